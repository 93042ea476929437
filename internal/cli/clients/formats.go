package clients

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A jsonFile is a file of JSON, perhaps with comments. It is the name of the member that has the servers.
type jsonFile string

// parse returns a text as a tree, its object, and the object of the servers, nil if there is none.
func (f jsonFile) parse(text []byte) (tree *hujson.Value, top, servers *hujson.Object, err error) {
	v, err := hujson.Parse(text)
	if err != nil {
		return nil, nil, nil, hint.Add(err, "mend it, and try again")
	}
	top, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, nil, nil, errors.New("it holds no JSON object")
	}
	if at := member(top, string(f)); at >= 0 {
		if servers, ok = top.Members[at].Value.Value.(*hujson.Object); !ok {
			return nil, nil, nil, fmt.Errorf("%q is no JSON object there", string(f))
		}
	}
	return &v, top, servers, nil
}

// member returns the index of a member, -1 if there is none.
func member(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		literal, ok := m.Name.Value.(hujson.Literal)
		return ok && literal.String() == name
	})
}

func (f jsonFile) find(text []byte) (s Server, ok bool, err error) {
	_, _, servers, err := f.parse(text)
	if err != nil || servers == nil {
		return s, false, err
	}
	at := member(servers, Name)
	if at < 0 {
		return s, false, nil
	}
	entry := servers.Members[at].Value.Clone()
	entry.Standardize()
	_ = json.Unmarshal(entry.Pack(), &s) // an entry of another kind is there, too
	return s, true, nil
}

func (f jsonFile) set(text []byte, s Server) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	tree, top, servers, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	unit := "  "
	if len(top.Members) > 0 {
		unit = indent(top.Members[0].Name.BeforeExtra)
	}
	if servers == nil {
		servers = &hujson.Object{}
		add(top, string(f), servers, unit, 1)
	}
	entry, err := json.Marshal(s)
	if unit != "" {
		entry, err = json.MarshalIndent(s, unit+unit, unit)
	}
	if err != nil {
		return nil, err
	}
	add(servers, Name, hujson.Literal(entry), unit, 2)
	return tree.Pack(), nil
}

// indent returns how far a member is indented; "" in a text of one line.
func indent(before hujson.Extra) string {
	line := bytes.LastIndexByte(before, '\n')
	if line < 0 {
		return ""
	}
	return string(before[line+1:])
}

// add adds a member to the end of an object, depth levels deep.
func add(o *hujson.Object, name string, value hujson.ValueTrimmed, unit string, depth int) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{Value: value}}
	if unit != "" {
		m.Name.BeforeExtra = hujson.Extra("\n" + strings.Repeat(unit, depth))
		m.Value.BeforeExtra = hujson.Extra(" ")
	}
	switch n := len(o.Members); {
	case n > 0:
		m.Value.AfterExtra = slices.Clone(o.Members[n-1].Value.AfterExtra) // a comma at the end, or none
	case unit != "" && !bytes.ContainsRune(o.AfterExtra, '\n'):
		o.AfterExtra = hujson.Extra("\n" + strings.Repeat(unit, depth-1))
	}
	o.Members = append(o.Members, m)
}

func (f jsonFile) drop(text []byte) ([]byte, error) {
	tree, top, servers, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	at := member(servers, Name)
	comma := servers.Members[at].Value.AfterExtra
	servers.Members = slices.Delete(servers.Members, at, at+1)
	if at > 0 && at == len(servers.Members) && comma != nil && servers.Members[at-1].Value.AfterExtra == nil {
		servers.Members[at-1].Value.AfterExtra = comma // after the last member, too
	}
	if len(servers.Members) == 0 && servers.AfterExtra.IsStandard() {
		at := member(top, string(f))
		top.Members = slices.Delete(top.Members, at, at+1)
	}
	if len(top.Members) == 0 && top.AfterExtra.IsStandard() {
		return nil, nil
	}
	return tree.Pack(), nil
}

// A tomlFile is the configuration of codex.
type tomlFile struct{}

func (tomlFile) find(text []byte) (s Server, ok bool, err error) {
	var doc struct {
		Servers map[string]toml.Primitive `toml:"mcp_servers"`
	}
	meta, err := toml.Decode(string(text), &doc)
	if err != nil {
		return s, false, hint.Add(err, "mend it, and try again")
	}
	if len(doc.Servers) > 0 && !tomlTables().Match(text) {
		return s, false, hint.Errorf("write [mcp_servers.NAME] there instead", "mcp_servers is not written as tables")
	}
	entry, ok := doc.Servers[Name]
	if ok {
		err = meta.PrimitiveDecode(entry, &s)
	}
	return s, ok, err
}

func (f tomlFile) set(text []byte, s Server) ([]byte, error) {
	var entry bytes.Buffer
	if len(text) > 0 {
		entry.WriteByte('\n') // ends the last line, or makes a blank one
	}
	fmt.Fprintf(&entry, "[mcp_servers.%s]\n", Name)
	if err := toml.NewEncoder(&entry).Encode(s); err != nil {
		return nil, err
	}
	text = append(slices.Clone(text), entry.Bytes()...)
	if _, _, err := f.find(text); err != nil {
		return nil, hint.Errorf("write it there by hand", "no table can be added to it: %w", err)
	}
	return text, nil
}

// tomlTables finds the first line of a table with a server.
var tomlTables = wording.Pattern(`(?m)^[ \t]*\[[ \t]*mcp_servers[ \t]*\.`)

// tomlTable finds the first line of a table of the entry.
var tomlTable = wording.Pattern(`(?m)^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*["']?` + Name + `["']?[ \t]*[.\]]`)

// drop removes the tables of the entry, each up to the last line of its own, and the line break that sets them apart.
func (f tomlFile) drop(text []byte) ([]byte, error) {
	for {
		at := tomlTable().FindIndex(text)
		if at == nil {
			break
		}
		begin, end, next := at[0], at[1], at[0]
		for line := range bytes.Lines(text[begin:]) {
			if words := bytes.TrimSpace(line); next > begin && bytes.HasPrefix(words, []byte("[")) {
				break
			} else if len(words) > 0 && words[0] != '#' {
				end = next + len(line)
			}
			next += len(line)
		}
		if begin > 0 && (end == len(text) || begin > 1 && text[begin-2] == '\n') {
			begin--
		}
		text = slices.Delete(slices.Clone(text), begin, end)
	}
	if _, there, err := f.find(text); there || err != nil {
		return nil, hint.Errorf("take it out by hand", "the entry %s is not written as a table of its own", Name)
	}
	return text, nil
}
