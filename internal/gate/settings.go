package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/tidwall/pretty"
	"github.com/tidwall/sjson"

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
	return s, nil
}

// mark is in the command of each hook of ours.
func (s Settings) mark() string { return "gate --hook " + s.Agent }

// hookTimeout is how many seconds the agent waits for a hook.
const hookTimeout = 600

// Events returns the events that a gate is installed for.
func (s Settings) Events() ([]string, error) {
	text, err := s.read()
	var found []string
	if err != nil {
		return nil, err
	}
	gjson.GetBytes(text, "hooks").ForEach(func(event, groups gjson.Result) bool {
		if len(s.ours(groups)) > 0 {
			found = append(found, event.String())
		}
		return true
	})
	return found, nil
}

// ours returns the positions of the groups of an event that hold a hook of ours, the last one first.
func (s Settings) ours(groups gjson.Result) (at []int) {
	for i, group := range groups.Array() {
		for _, one := range group.Get("hooks").Array() {
			if strings.Contains(one.Get("command").String(), s.mark()) {
				at = append(at, i)
			}
		}
	}
	slices.Reverse(at)
	return slices.Compact(at)
}

// Install adds hooks for events, in place of earlier ones of ours. All else in the file stays as it is.
func (s Settings) Install(command string, events []string) error {
	text, err := s.read()
	if err != nil {
		return err
	}
	before := text
	if text, err = s.without(text); err != nil {
		return err
	}
	for _, event := range append([]string{prompted}, events...) {
		type one struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}
		group := struct {
			Hooks []one `json:"hooks"`
		}{[]one{{"command", command, hookTimeout}}}
		raw, err := json.Marshal(group)
		if err == nil {
			text, err = sjson.SetRawBytes(text, "hooks."+event+".-1", raw)
		}
		if err != nil {
			return err
		}
	}
	if len(before) == 0 {
		text = pretty.Pretty(text)
	}
	return s.write(text)
}

// Uninstall takes out what Install has added, and reports whether there was anything.
func (s Settings) Uninstall() (bool, error) {
	text, err := s.read()
	if err != nil {
		return false, err
	}
	less, err := s.without(text)
	if err != nil || string(less) == string(text) {
		return false, err
	}
	if len(gjson.ParseBytes(less).Map()) == 0 { // there is nothing of the user's
		return true, os.Remove(s.File)
	}
	return true, s.write(less)
}

// without takes our hooks out of a file, and what is empty without them.
func (s Settings) without(text []byte) (less []byte, err error) {
	less = text
	var events []string
	gjson.GetBytes(text, "hooks").ForEach(func(event, _ gjson.Result) bool {
		events = append(events, event.String())
		return true
	})
	took := false
	for _, event := range events {
		path := "hooks." + gjson.Escape(event)
		for _, i := range s.ours(gjson.GetBytes(less, path)) {
			took = true
			if less, err = sjson.DeleteBytes(less, path+"."+strconv.Itoa(i)); err != nil {
				return nil, err
			}
		}
		if took && len(gjson.GetBytes(less, path).Array()) == 0 {
			if less, err = sjson.DeleteBytes(less, path); err != nil {
				return nil, err
			}
		}
	}
	if took && len(gjson.GetBytes(less, "hooks").Map()) == 0 {
		return sjson.DeleteBytes(less, "hooks")
	}
	return less, nil
}

func (s Settings) read() ([]byte, error) {
	text, _, err := file.Read(s.File, file.Options{})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the settings of %s: %w", s.Agent, err)
	case strings.TrimSpace(string(text)) == "":
		return nil, nil
	case !gjson.ValidBytes(text) || !gjson.ParseBytes(text).IsObject():
		return nil, hint.Errorf("mend it, then try again", "%s is not a JSON object", s.File)
	}
	return text, nil
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
