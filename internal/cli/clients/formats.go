package clients

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/tailscale/hujson"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A jsonFile is a file of JSON, perhaps with comments. It is the name of the member that has the servers.
type jsonFile string

func (f jsonFile) find(text []byte) (s Server, ok bool, err error) {
	d, err := parse(text)
	if err != nil {
		return s, false, err
	}
	servers, err := object(d.top, string(f))
	if err != nil || servers == nil {
		return s, false, err
	}
	at := member(servers, Name)
	if at < 0 {
		return s, false, nil
	}
	decode(servers.Members[at].Value, &s) // an entry of another kind is there, too
	return s, true, nil
}

func (f jsonFile) set(text []byte, s Server) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := object(d.top, string(f))
	if err != nil {
		return nil, err
	}
	if servers == nil {
		servers = &hujson.Object{}
		d.add(d.top, string(f), servers, 1)
	}
	entry, err := d.value(s, 2)
	if err != nil {
		return nil, err
	}
	d.add(servers, Name, entry, 2)
	return d.text(), nil
}

func (f jsonFile) drop(text []byte) ([]byte, error) {
	d, err := parse(text)
	if err != nil {
		return nil, err
	}
	servers, err := object(d.top, string(f))
	if err != nil || servers == nil {
		return nil, err
	}
	drop(servers, member(servers, Name))
	if len(servers.Members) == 0 && servers.AfterExtra.IsStandard() {
		drop(d.top, member(d.top, string(f)))
	}
	return d.text(), nil
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
