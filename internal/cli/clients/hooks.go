package clients

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"codeloops/internal/config/host"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// Hooks is a file with hooks of an agent: settings.json of Claude Code, hooks.json of Codex. Both have the same form.
type Hooks struct {
	text

	states string // the file in which Codex keeps which hooks are trusted; "": it need not be told
}

// HooksOf returns the hooks in the user's settings of an agent, claude or codex, or those of the project whose root is
// given; "" is the user's.
func HooksOf(h *host.Host, agent, root string) (k Hooks, err error) {
	k.text = text{Client: agent, Project: root != ""}
	dir, name, variable := ".claude", "settings.json", "CLAUDE_CONFIG_DIR"
	switch agent {
	case "claude":
	case "codex":
		dir, name, variable = ".codex", "hooks.json", "CODEX_HOME"
	default:
		return k, hint.Errorf("name one of claude, codex", "no gate is known for the agent %q", agent)
	}
	user := filepath.Join(h.Home(), dir)
	if own := h.Getenv(variable); own != "" {
		user = h.Path(own)
	} else if h.Home() == "" {
		return k, hint.Errorf("set HOME", "the home directory is not known")
	}
	if k.Path = filepath.Join(user, name); root != "" {
		k.Path = filepath.Join(root, dir, name)
	}
	if agent == "codex" {
		k.states = filepath.Join(user, "config.toml")
	}
	return k, nil
}

// hookTimeout is how many seconds the agent waits for a hook.
const hookTimeout = 600

// A hook is one that runs a command.
type hook struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"` // in seconds
	Async   bool   `json:"async,omitempty"`
	Status  string `json:"statusMessage,omitempty"`
}

// gateOf is what a hook of ours begins with: the program, as a word of the shell, whatever it is called.
var gateOf = wording.Pattern(`^(?:\S+|'(?:[^']|'\\'')*') gate --hook (\S+)`)

// ours reports whether a hook was installed by us. Its flags may be any.
func (k Hooks) ours(v hujson.Value) (h hook, is bool) {
	decode(v, &h)
	of := gateOf().FindStringSubmatch(h.Command)
	return h, of != nil && of[1] == k.Client
}

// Events returns the events that the gate is installed for, sorted.
func (k Hooks) Events() (found []string, err error) {
	d, err := k.document()
	if err == nil {
		err = k.each(d, func(event string, _, _ int, _ hook) { found = append(found, event) })
	}
	slices.Sort(found)
	return slices.Compact(found), k.named(err)
}

func (k Hooks) document() (*document, error) {
	b, err := k.read()
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// each visits the hooks of ours. It has the events from the last to the first one, so that a hook can be taken out.
func (k Hooks) each(d *document, visit func(event string, group, at int, h hook)) error {
	all, err := object(d.top, "hooks")
	if err != nil || all == nil {
		return err
	}
	for _, m := range slices.Backward(all.Members) {
		groups, _ := m.Value.Value.(*hujson.Array) // what is of another form is nobody's hook
		if groups == nil {
			continue
		}
		for i, group := range slices.Backward(groups.Elements) {
			for n, v := range slices.Backward(hooksOf(group)) {
				if h, is := k.ours(v); is {
					visit(m.Name.Value.(hujson.Literal).String(), i, n, h)
				}
			}
		}
	}
	return nil
}

// hooksOf returns the hooks of a group.
func hooksOf(group hujson.Value) []hujson.Value {
	o, _ := group.Value.(*hujson.Object)
	if o == nil {
		return nil
	}
	if hooks, _ := array(o, "hooks"); hooks != nil {
		return hooks.Elements
	}
	return nil
}

// Install adds a hook for each of the events, in place of earlier ones of ours.
func (k Hooks) Install(command string, events []string) error {
	d, err := k.document()
	if err == nil {
		_, err = k.without(d)
	}
	var all *hujson.Object
	if err == nil {
		all, err = object(d.top, "hooks")
	}
	if all == nil && err == nil {
		all = &hujson.Object{}
		d.add(d.top, "hooks", all, 1)
	}
	for _, event := range events {
		if err == nil {
			err = d.enter(all, event, hook{Type: "command", Command: command, Timeout: hookTimeout})
		}
	}
	if err == nil {
		err = k.write(d.text())
	}
	return k.named(err)
}

// enter adds a hook to those of an event.
func (d *document) enter(all *hujson.Object, event string, h hook) error {
	groups, err := array(all, event)
	if err != nil {
		return err
	}
	if groups == nil {
		groups = &hujson.Array{}
		d.add(all, event, groups, 2)
	}
	group, err := d.value(map[string]any{"hooks": []hook{h}}, 3)
	if err == nil {
		d.push(groups, group, 3)
	}
	return err
}

// Uninstall takes out what Install has added, and reports whether there was anything.
func (k Hooks) Uninstall() (took bool, err error) {
	d, err := k.document()
	if err == nil {
		took, err = k.without(d)
	}
	if took && err == nil {
		err = k.write(d.text())
	}
	return took, k.named(err)
}

// without takes our hooks out of a document, and what is empty without them.
func (k Hooks) without(d *document) (took bool, err error) {
	all, err := object(d.top, "hooks")
	if err != nil || all == nil {
		return false, err
	}
	err = k.each(d, func(event string, group, at int, _ hook) {
		took = true
		groups, _ := array(all, event)
		o, _ := groups.Elements[group].Value.(*hujson.Object)
		hooks, _ := array(o, "hooks")
		if pull(hooks, at); len(hooks.Elements) > 0 {
			return
		}
		if pull(groups, group); len(groups.Elements) == 0 && groups.AfterExtra.IsStandard() {
			drop(all, member(all, event))
		}
	})
	if took && len(all.Members) == 0 && all.AfterExtra.IsStandard() {
		drop(d.top, member(d.top, "hooks"))
	}
	return took, err
}

// Trusted reports whether the agent runs the hooks. Codex keeps a hash of each hook that the user has trusted, and skips
// the others in silence.
func (k Hooks) Trusted() (bool, error) {
	if k.states == "" {
		return true, nil
	}
	known, err := k.known()
	if err != nil {
		return false, err
	}
	d, err := k.document()
	trusted := true
	if err == nil {
		err = k.each(d, func(event string, group, at int, h hook) {
			state := known[k.key(event, group, at)]
			trusted = trusted && state.Hash == h.hash(event) && (state.Enabled == nil || *state.Enabled)
		})
	}
	return trusted, k.named(err)
}

// A trust is what Codex has been told about a hook.
type trust struct {
	Hash    string `toml:"trusted_hash"`
	Enabled *bool  `toml:"enabled"`
}

// known returns what Codex has been told.
func (k Hooks) known() (map[string]trust, error) {
	of := text{Client: k.Client, Path: k.states}
	b, err := of.read()
	var all struct {
		Hooks struct {
			State map[string]trust `toml:"state"`
		} `toml:"hooks"`
	}
	if err == nil {
		_, err = toml.Decode(string(b), &all)
	}
	return all.Hooks.State, of.named(err)
}

// key is how Codex names a hook.
func (k Hooks) key(event string, group, at int) string {
	return k.Path + ":" + snake(event) + ":" + strconv.Itoa(group) + ":" + strconv.Itoa(at)
}

// hash is by what Codex knows a hook again: the sum of its normal form.
func (h hook) hash(event string) string {
	h.Timeout = cmp.Or(h.Timeout, hookTimeout)
	normal := map[string]any{"type": h.Type, "command": h.Command, "timeout": h.Timeout, "async": h.Async}
	if h.Status != "" {
		normal["statusMessage"] = h.Status
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text) // it sorts by name
	e.SetEscapeHTML(false)
	_ = e.Encode(map[string]any{"event_name": snake(event), "hooks": []any{normal}}) // it is JSON
	sum := sha256.Sum256(bytes.TrimSpace(text.Bytes()))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// snake writes the name of an event with small letters.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
