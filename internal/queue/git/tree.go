package git

import (
	"context"
	"strings"
	"time"
)

// Gitlink is the mode of an entry for a commit of another repository.
const Gitlink = "160000"

// Absent is an entry that does not exist.
const Absent = "000000 0000000000000000000000000000000000000000"

// A Difference is a path with its entries, "mode id", in two trees.
type Difference struct{ Path, Was, Now string }

// Nested reports whether it is about another repository.
func (d Difference) Nested() bool {
	return strings.HasPrefix(d.Was, Gitlink) || strings.HasPrefix(d.Now, Gitlink)
}

// Gone reports whether the second tree does not have the path.
func (d Difference) Gone() bool { return d.Now == Absent }

// Differences compares two trees. env is added to the environment of git.
func (r *Repo) Differences(ctx context.Context, env []string, was, now string) (all []Difference, err error) {
	out, err := r.Do(ctx, Call{Dir: r.Root, Env: env}, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none", was, now)
	fields := strings.Split(out, "\x00")
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 100644 ID ID M", path
		if about := strings.Fields(strings.TrimPrefix(fields[i], ":")); len(about) > 3 {
			all = append(all, Difference{fields[i+1], about[0] + " " + about[2], about[1] + " " + about[3]})
		}
	}
	return all, err
}

// Fetch fetches refs from a repository on this machine, in the syntax of git fetch. Git checks all objects.
func (r *Repo) Fetch(ctx context.Context, from string, specs ...string) (err error) {
	args := append([]string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", from}, specs...)
	c := Call{Dir: r.Root, Settings: []string{"-c", "transfer.fsckObjects=true", "-c", "fetch.unpackLimit=1"}}
	for range patience {
		if _, err = r.Do(ctx, c, args...); err == nil || !Lost(err) || ctx.Err() != nil {
			return err
		}
		time.Sleep(moment) // a git prune has removed the pack that was just being written
	}
	return err
}
