package config

// The ways in which the queue's commits get from machine to machine.
const (
	transportBundle = "bundle" // the hub
	transportRemote = "remote" // a git remote
)

// CommitRemote returns the git remote for commits; "" if they go through the hub.
func (q *Queue) CommitRemote() string {
	if q.Transport == transportRemote {
		return q.Remote
	}
	return ""
}
