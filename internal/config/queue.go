package config

// A Queue says where the user's queue is served, if not by this home's own hub.
type Queue struct {
	Hub      string `key:"hub"`   // URL, which may hold a password; "": this home's own hub
	CA       string `key:"ca"`    // file with the authorities that sign the hub's certificate; "": the system's
	Cert     string `key:"cert"`  // file with the client certificate; "": none
	Key      string `key:"key"`   // file with its key
	Creds    string `key:"creds"` // file with NATS credentials; "": the home's key
	Replicas int    `key:"replicas"`
	// Transport is how commits get from machine to machine: "bundle", or "remote" through the git
	// remote Remote. Both apply to the repositories of this home.
	Transport string `key:"transport"`
	Remote    string `key:"remote"`
}

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

// queueSchema are the keys of the queue. No project file may set them, because a hub sends
// commands to workers.
func queueSchema() schema {
	s := schema{
		{key: "queue.hub", value: text(orEmpty(notBlank)), byDefault: "", flag: "--hub"},
		{key: "queue.ca", value: text(orEmpty(notBlank)), byDefault: "", directory: true},
		{key: "queue.cert", value: text(orEmpty(notBlank)), byDefault: "", directory: true},
		{key: "queue.key", value: text(orEmpty(notBlank)), byDefault: "", directory: true},
		{key: "queue.creds", value: text(orEmpty(notBlank)), byDefault: "", directory: true},
		{key: "queue.replicas", value: count(1), byDefault: 1},
		{key: "queue.transport", value: choice(transportBundle, transportRemote), byDefault: transportBundle},
		{key: "queue.remote", value: text(notBlank), byDefault: "origin"},
	}
	for i := range s {
		s[i].own = true
	}
	return s
}
