package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"codeloops/internal/diff/scan"
	"codeloops/internal/wording"
)

// setUp begins a line of the message that says how git was set up: the SHA-256 of a value, and its
// name as a Go string. The commit's id, which is kept elsewhere, authenticates it.
const setUp = "Set-up: "

// setUpKnown is the line before those, of which there may be none.
const setUpKnown = "Set-up-known: yes"

// Digest returns the digest that represents a value in [Checkpoint.Setup].
func Digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// headLine and branchLine begin the lines that say where HEAD was.
const (
	headLine   = "Head: "
	branchLine = "Branch: "
)

func (c *Checkpoint) message(files []scan.PathFile) string {
	text := "\n" + strings.TrimRight(c.Message, "\n") + "\n"
	for _, begin := range []string{setUpKnown, umaskLine, leftOut} { // indent lines that look like ours
		text = strings.ReplaceAll(text, "\n"+begin, "\n "+begin)
	}
	head := ""
	if c.Head != "" {
		head += "\n" + headLine + c.Head
	}
	if c.Branch != "" {
		head += "\n" + branchLine + wording.Name(c.Branch)
	}
	if !c.Index.IsZero() {
		head += "\nIndex: " + c.Index.String()
	}
	if head != "" {
		head += "\n"
	}
	return text[1:] + head + setupText(c.Setup) + c.Disk.text() + leftOutText(files)
}

// line returns one of our lines: a prefix, a value, and a name as a Go string.
func line(begin, what, name string) string {
	return fmt.Sprintf("%s%s %s\n", begin, what, strconv.QuoteToASCII(name))
}

// linesOf returns the lines of a map, sorted by name.
func linesOf[V any](of map[string]V, begin string, value func(V) string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(of)) {
		b.WriteString(line(begin, value(of[name]), name))
	}
	return b.String()
}

// lines yields the value and the name of each of our lines with a prefix. It skips malformed
// lines.
func lines(message, begin string) iter.Seq2[string, string] {
	return func(yield func(what, name string) bool) {
		for line := range strings.Lines(message) {
			rest, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), begin)
			what, quoted, _ := strings.Cut(rest, ` "`)
			name, err := strconv.Unquote(`"` + quoted)
			if found && err == nil && !yield(what, name) {
				return
			}
		}
	}
}

func setupText(setup map[string]string) string {
	if setup == nil {
		return ""
	}
	return "\n" + setUpKnown + "\n" + linesOf(setup, setUp, func(digest string) string { return digest })
}

func parseSetup(message string) map[string]string {
	_, text, known := strings.Cut(message, "\n"+setUpKnown+"\n")
	if !known {
		return nil
	}
	setup := make(map[string]string)
	for digest, name := range lines(text, setUp) {
		setup[name] = digest
	}
	return setup
}

// A Disk describes the files of a state on the disk, beyond what git records of them.
type Disk struct {
	Umask fs.FileMode
	Perms map[string]fs.FileMode // of regular files with others than those of [scan.Usual]
	Raw   map[string]Raw         // of files that differ from their blobs, because git converts them
}

// Raw is the content of a file that git converts. It is zero if the content was not kept, so that
// only git can reproduce it.
type Raw struct {
	CRLF bool          // it is the blob with all line ends CRLF
	ID   plumbing.Hash // otherwise, the blob with this content
}

// Kept reports whether the content is known.
func (r Raw) Kept() bool { return r.CRLF || !r.ID.IsZero() }

// Perm returns the permissions of a regular file.
func (d *Disk) Perm(path string, mode uint32) fs.FileMode {
	if perm, ok := d.Perms[path]; ok {
		return perm
	}
	return scan.Usual(mode, d.Umask)
}

// Lines of the message. The first is followed by those of files: permissions or an id (or crlf), and
// the path as a Go string.
const (
	umaskLine = "Umask: "
	permLine  = "Mode: "
	rawLine   = "Raw: "
	crlf      = "crlf"
)

func (d *Disk) text() string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("\n%s%04o\n", umaskLine, d.Umask) +
		linesOf(d.Perms, permLine, func(perm fs.FileMode) string { return fmt.Sprintf("%04o", perm) }) +
		linesOf(d.Raw, rawLine, func(raw Raw) string {
			if raw.CRLF {
				return crlf
			}
			return raw.ID.String()
		})
}

// DiskOf returns what the message of a checkpoint says of the disk, or nil if it says nothing, as in
// earlier versions.
func DiskOf(message string) *Disk {
	_, text, known := strings.Cut("\n"+message, "\n"+umaskLine)
	first, text, _ := strings.Cut(text, "\n")
	umask, err := strconv.ParseUint(first, 8, 32)
	if !known || err != nil {
		return nil
	}
	d := &Disk{Umask: fs.FileMode(umask) & fs.ModePerm, Perms: make(map[string]fs.FileMode), Raw: make(map[string]Raw)}
	for what, path := range lines(text, permLine) {
		if perm, err := strconv.ParseUint(what, 8, 32); err == nil {
			d.Perms[path] = fs.FileMode(perm) & fs.ModePerm
		}
	}
	for what, path := range lines(text, rawLine) {
		if what == crlf {
			d.Raw[path] = Raw{CRLF: true}
		} else if plumbing.IsHash(what) {
			d.Raw[path] = Raw{ID: plumbing.NewHash(what)}
		}
	}
	return d
}

// addRaw adds a commit that keeps the blobs of [Disk.Raw]. It is zero if there are none.
func (k *writer) addRaw(c Checkpoint) (id plumbing.Hash, err error) {
	if c.Disk == nil {
		return id, nil
	}
	var files []scan.File
	for path, raw := range c.Disk.Raw {
		if raw.ID.IsZero() {
			continue
		}
		if !k.batch.Owns(raw.ID) {
			if err := k.batch.Take(raw.ID, path, 0); err != nil {
				return id, err
			}
		}
		files = append(files, scan.File{Name: raw.ID.String(), Mode: scan.Regular, ID: raw.ID})
	}
	if files == nil {
		return id, nil
	}
	slices.SortFunc(files, func(a, b scan.File) int { return strings.Compare(a.Name, b.Name) })
	files = slices.CompactFunc(files, func(a, b scan.File) bool { return a.Name == b.Name })
	tree, err := k.batch.Add(plumbing.TreeObject, scan.NewDir("", files, nil).Object())
	if err != nil {
		return id, err
	}
	return k.commit(tree, plumbing.ZeroHash, "Files as they were on the disk\n")
}

// leftOut begins a line of the message about a file that is not in the tree: mode, id, size in bytes,
// and the path as a Go string. It is a large file, or the gitlink of a repository whose files
// are in the tree.
const leftOut = "Left-out: "

func leftOutText(files []scan.PathFile) string {
	var b strings.Builder
	for i, f := range files {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line(leftOut, fmt.Sprintf("%06o %s %d", f.Mode, f.ID, f.Size()), f.Path))
	}
	return b.String()
}

// LeftOut returns the files that the message of a checkpoint says were left out. It skips malformed lines.
func LeftOut(message string) []scan.PathFile {
	var files []scan.PathFile
	for what, path := range lines(message, leftOut) {
		fields := strings.Split(what, " ")
		if len(fields) != 3 || !plumbing.IsHash(fields[1]) {
			continue
		}
		mode, modeErr := strconv.ParseUint(fields[0], 8, 32)
		size, sizeErr := strconv.ParseInt(fields[2], 10, 64)
		if f, ok := scan.Place(path, uint32(mode), plumbing.NewHash(fields[1]), size); ok && modeErr == nil && sizeErr == nil {
			files = append(files, f)
		}
	}
	return files
}
