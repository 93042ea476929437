package gate

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"codeloops/internal/config/host"
	"codeloops/internal/file"
	"codeloops/internal/wording/hint"
)

// Settings is a file with hooks of an agent: settings.json of Claude Code, hooks.json of Codex. Both have the same
// form.
type Settings struct {
	Agent string
	File  string
}

// SettingsOf returns the user's settings of an agent, or those of the project whose root is given; "" is the user's.
func SettingsOf(h *host.Host, agent, root string) (s Settings, err error) {
	s.Agent = agent
	dir, name, variable := ".claude", "settings.json", "CLAUDE_CONFIG_DIR"
	switch agent {
	case Claude:
	case Codex:
		dir, name, variable = ".codex", "hooks.json", "CODEX_HOME"
	default:
		return s, hint.Errorf("name one of "+Claude+", "+Codex, "no gate is known for the agent %q", agent)
	}
	switch own := h.Getenv(variable); {
	case root != "":
		s.File = filepath.Join(root, dir, name)
	case own != "":
		s.File = filepath.Join(h.Path(own), name)
	case h.Home() == "":
		return s, errors.New("there is no home directory with the settings of " + agent)
	default:
		s.File = filepath.Join(h.Home(), dir, name)
	}
	if target, err := filepath.EvalSymlinks(s.File); err == nil { // some keep it elsewhere, with a link to it
		s.File = target
	}
	return s, nil
}

// mark is in the command of each hook of ours.
func (s Settings) mark() string { return "gate --hook " + s.Agent }

// hookTimeout is how many seconds the agent waits for a hook.
const hookTimeout = 600

// A group is a member of an event's list, as far as it matters.
type group struct {
	Hooks []struct{ Command string } `json:"hooks"`
}

// hooksIn returns the lists of hooks in settings, by event.
func hooksIn(v *hujson.Value) map[string][]group {
	plain := v.Clone()
	plain.Standardize()
	var all struct{ Hooks map[string][]group }
	_ = json.Unmarshal(plain.Pack(), &all) // what is of another form is nobody's hook
	return all.Hooks
}

// ours returns the positions of our groups in a list, the last one first.
func (s Settings) ours(groups []group) (at []int) {
	for i, g := range slices.Backward(groups) {
		if slices.ContainsFunc(g.Hooks, func(h struct{ Command string }) bool { return strings.Contains(h.Command, s.mark()) }) {
			at = append(at, i)
		}
	}
	return at
}

// Events returns the events that a gate is installed for, sorted.
func (s Settings) Events() (found []string, err error) {
	v, err := s.read()
	if err != nil || v == nil {
		return nil, err
	}
	for event, groups := range hooksIn(v) {
		if len(s.ours(groups)) > 0 {
			found = append(found, event)
		}
	}
	slices.Sort(found)
	return found, nil
}

// A change is an operation of a JSON patch (RFC 6902).
type change struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

func patch(v *hujson.Value, changes ...change) error {
	text, err := json.Marshal(changes)
	if err == nil {
		err = v.Patch(text)
	}
	return err
}

// at is the path of an event's list.
func at(event string) string {
	return "/hooks/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(event)
}

// Install adds hooks for events, in place of earlier ones of ours. All else in the file stays as it is.
func (s Settings) Install(command string, events []string) error {
	v, err := s.read()
	if err != nil {
		return err
	}
	fresh := v == nil
	if fresh {
		v = &hujson.Value{Value: &hujson.Object{}}
	} else if _, err := s.without(v); err != nil {
		return err
	}
	there := hooksIn(v)
	if there == nil {
		err = patch(v, change{"add", "/hooks", struct{}{}})
	}
	for _, event := range append([]string{prompted}, events...) {
		if _, known := there[event]; !known && err == nil {
			err = patch(v, change{"add", at(event), []string{}})
		}
		if err == nil {
			hook := map[string]any{"type": "command", "command": command, "timeout": hookTimeout}
			err = patch(v, change{"add", at(event) + "/-", map[string]any{"hooks": []any{hook}}})
		}
	}
	if err != nil {
		return fmt.Errorf("change %s: %w", s.File, err)
	}
	if fresh {
		v.Format()
	}
	return s.write(v.Pack())
}

// Uninstall takes out what Install has added, and reports whether there was anything.
func (s Settings) Uninstall() (bool, error) {
	v, err := s.read()
	if err != nil || v == nil {
		return false, err
	}
	took, err := s.without(v)
	if err != nil || !took {
		return false, err
	}
	if o, is := v.Value.(*hujson.Object); is && len(o.Members) == 0 { // there is nothing of the user's
		return true, os.Remove(s.File)
	}
	return true, s.write(v.Pack())
}

// without takes our hooks out of settings, and what is empty without them.
func (s Settings) without(v *hujson.Value) (took bool, err error) {
	all := hooksIn(v)
	left := len(all)
	for event, groups := range all {
		gone := s.ours(groups)
		for _, i := range gone {
			took = true
			err = cmp.Or(err, patch(v, change{Op: "remove", Path: at(event) + "/" + strconv.Itoa(i)}))
		}
		if len(gone) > 0 && len(gone) == len(groups) {
			left--
			err = cmp.Or(err, patch(v, change{Op: "remove", Path: at(event)}))
		}
	}
	if took && left == 0 {
		err = cmp.Or(err, patch(v, change{Op: "remove", Path: "/hooks"}))
	}
	return took, err
}

// read returns the settings, nil if there are none.
func (s Settings) read() (*hujson.Value, error) {
	text, _, err := file.Read(s.File, file.Options{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // there are none
	case err != nil:
		return nil, fmt.Errorf("read the settings of %s: %w", s.Agent, err)
	case strings.TrimSpace(string(text)) == "":
		return nil, nil //nolint:nilnil // an empty file
	}
	parsed, err := hujson.Parse(text)
	if _, is := parsed.Value.(*hujson.Object); err != nil || !is {
		return nil, hint.Errorf("mend it, then try again", "%s is not a JSON object", s.File)
	}
	return &parsed, nil
}

func (s Settings) write(text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(s.File); err == nil {
		mode = info.Mode().Perm()
	}
	err := os.MkdirAll(filepath.Dir(s.File), 0o700)
	if err == nil {
		err = file.Write(s.File, text, mode)
	}
	if err != nil {
		return fmt.Errorf("write the settings of %s: %w", s.Agent, err)
	}
	return nil
}

// Trusted reports whether Codex has been told to trust the hooks of the file: it keeps a hash for each. It skips the
// others in silence.
func (s Settings) Trusted(h *host.Host) bool {
	user, err := SettingsOf(h, s.Agent, "")
	if err != nil {
		return false
	}
	text, _, err := file.Read(filepath.Join(filepath.Dir(user.File), "config.toml"), file.Options{})
	return err == nil && strings.Contains(string(text), strconv.Quote(s.File + ":stop:")[:len(strconv.Quote(s.File+":stop:"))-1])
}
