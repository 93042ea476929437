package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"codeloops/internal/strategy"
	"codeloops/internal/wording"
)

// A topic marks where a topic begins among the fields of a struct.
type topic struct{}

// A Key is one key of the configuration, as the tags of its field declare it:
//
//	key      its name in its table; on a field that is a table, the table's name
//	is       what values it takes: alternatives, or one of the names in [checks];
//	         a "?" behind a name allows nothing as well. The type of the field says the rest.
//	least    the least number or size
//	default  what counts if nothing sets it; for a key below a name that the user chooses, a sample
//	flag     its flag, with a comma and a letter behind it if it has a short form
//	sets     on a flag without a key: the keys that it sets, with a comma between them; {} is its value
//	flags    on a table: what its flags begin with; without it, its keys have none
//	resume   what a resumed run does with its flag; without it, the log keeps it
//	trust    "needed": a project file needs the user's trust; "own": no project file may set it
//	looser   when a value constrains a run less than an earlier one, one of the names in [Key.loosened];
//	         without it, never
//	show     "often": the example file begins with it; "brief": even the shortest help lists its
//	         flag; "both"; "file": its flag is in no help, because it is set in a file once
//	help     what it does; braces hold what its flag calls the value
//	more     what the example file says in addition
type Key struct {
	Name     string // with dots between tables; "*" stands for a name that the user chooses
	Flag     string // "" if it has none
	Short    string
	Topic    string
	Help     string
	More     string
	Resume   Resume
	Choices  []string // all valid values; nil if there are others
	Default  any      // as [Config] holds it
	Often    bool     // people set it often
	Brief    bool     // even the shortest help lists its flag
	Unlisted bool     // no help lists its flag

	Agents    bool // a list of agents, which may be written in one word
	Directory bool // a path, relative to the place where it is set

	Sets []string // KEY=VALUE: what a flag without a key of its own sets; {} is its value

	read   kind
	own    bool
	trust  bool
	looser string
}

// A Resume is what a resumed run does with a setting.
type Resume string

// What a resumed run does with a setting.
const (
	Logged    Resume = ""          // the log keeps it, and it applies again
	Inherited Resume = "inherited" // the log has a field of its own for the value at the session's start
	Said      Resume = "said"      // it applies to one run, and has to be repeated
	Shown     Resume = "shown"     // it only affects what is displayed
)

// The topics that flags beside those of settings belong to.
const (
	TopicTask    = "Task"
	TopicOutput  = "Output"
	TopicSession = "Session"
)

// Flags lists the settings of a run that have a flag, in the order of the help: keys, and a few
// that no file has, whose name is "".
func Flags() []Key { return slices.Clone(flags()) }

var flags = sync.OnceValue(func() []Key { //nolint:gochecknoglobals // a table that never changes
	all := slices.Concat(schema(), declared(reflect.TypeFor[once](), Key{}, nil))
	all = slices.DeleteFunc(all, func(k Key) bool { return k.Flag == "" || strings.HasPrefix(k.Name, "queue.") })
	order := []string{TopicTask, "Agents", "Strategy", "Limits", "Checks and verdicts", TopicOutput, TopicSession}
	slices.SortStableFunc(all, func(a, b Key) int { return slices.Index(order, a.Topic) - slices.Index(order, b.Topic) })
	return all
})

// FlagOf returns the setting of a run with that flag.
func FlagOf(name string) (Key, bool) {
	i := slices.IndexFunc(flags(), func(k Key) bool { return k.Flag == name })
	if i < 0 {
		return Key{}, false
	}
	return flags()[i], true
}

// Usage returns what the key does, for the help of its flag: the word in back-quotes is the
// name of the value, or all valid values.
func (k Key) Usage() string {
	help := k.Help
	if k.Choices != nil && !strings.Contains(help, "{}") {
		help += ": {}"
	}
	help = strings.Replace(help, "{}", "{"+strings.Join(k.Choices, "|")+"}", 1)
	return strings.NewReplacer("{", "`", "}", "`").Replace(help)
}

// schema returns all keys in the order in which to show them: those of the top level, then
// table by table. It is made once, because that takes a while.
var schema = sync.OnceValue(func() []Key { //nolint:gochecknoglobals // a table that never changes
	all := declared(reflect.TypeFor[Config](), Key{}, nil)
	below := func(k Key) int { return min(1, strings.Count(k.Name, ".")) }
	slices.SortStableFunc(all, func(a, b Key) int { return below(a) - below(b) })
	return all
})

// declared returns the keys of a struct. Its table's name and properties are in parent;
// flags is what its flags begin with, nil if its keys have none.
func declared(of reflect.Type, parent Key, flags *string) (all []Key) {
	prefix := ""
	if parent.Name == "" {
		flags = &prefix
	}
	for field := range of.Fields() {
		tag := field.Tag
		k := parent
		k.Name = strings.TrimPrefix(parent.Name+"."+tag.Get("key"), ".")
		k.trust, k.own = parent.trust || tag.Get("trust") == "needed", parent.own || tag.Get("trust") == "own"
		k.Topic = cmp.Or(tag.Get("topic"), parent.Topic)
		switch {
		case field.Type == reflect.TypeFor[topic]():
			parent.Topic = tag.Get("topic")
		case field.Anonymous && field.IsExported():
			k.Name = parent.Name
			all = append(all, declared(field.Type, k, flags)...)
		case tag.Get("key") == ",remain":
			all = append(all, parameters(parent)...)
		case tag.Get("key") == "-", tag.Get("key") == "" && tag.Get("flag") == "":
		case field.Type.Kind() == reflect.Struct:
			var within *string
			if begin, ok := tag.Lookup("flags"); ok {
				within = &begin
			}
			all = append(all, declared(field.Type, k, within)...)
		case field.Type.Kind() == reflect.Map && field.Type.Elem().Kind() == reflect.Struct:
			k.Name += ".*"
			all = append(all, declared(field.Type.Elem(), k, nil)...)
		default:
			all = append(all, k.declare(field, flags))
		}
	}
	return all
}

// declare adds what the tags of a field say.
func (k Key) declare(field reflect.StructField, flags *string) Key {
	tag, of := field.Tag, field.Type
	if of.Kind() == reflect.Map {
		k.Name, of = k.Name+".*", of.Elem()
	}
	is := tag.Get("is")
	if strings.Contains(is, "|") {
		k.Choices = strings.Split(is, "|")
	}
	least, _ := strconv.Atoi(tag.Get("least"))
	k.read, k.Directory, k.Agents, k.looser = kindOf(of, is, checkOf(is), least, 0), is == "dir", is == "agents", tag.Get("looser")
	k.Default = k.readDefault(of, tag.Get("default"))
	if sets, ok := tag.Lookup("sets"); ok {
		k.Sets = strings.Split(sets, ",")
	}
	k.Help, k.More, k.Resume = tag.Get("help"), tag.Get("more"), Resume(tag.Get("resume"))
	show := tag.Get("show")
	k.Often, k.Brief, k.Unlisted = show == "often" || show == "both", show == "brief" || show == "both", show == "file"
	if table, _, isTable := strings.Cut(k.Name, "."); isTable && flags != nil {
		k.Help = strings.NewReplacer("the role's", "the "+table+"'s", "the role", "the "+table).Replace(k.Help)
	}
	if name, short, _ := strings.Cut(tag.Get("flag"), ","); name != "" && flags != nil {
		k.Flag, k.Short = *flags+name, short
	}
	return k
}

// readDefault reads the tag of a default value; "" is the type's zero value.
func (k Key) readDefault(of reflect.Type, text string) any {
	if of.Kind() == reflect.Slice {
		return slices.DeleteFunc(strings.Split(text, ","), func(s string) bool { return s == "" })
	}
	if text == "" {
		return reflect.Zero(of).Interface()
	}
	is, _ := k.read(word(text)) // a test reads all of them
	return is
}

// checkOf returns the check that the tag "is" names.
func checkOf(is string) check {
	name, optional := strings.CutSuffix(is, "?")
	switch check := checks()[name]; {
	case strings.Contains(is, "|"):
		return oneOf(strings.Split(is, "|")...)
	case check == nil:
		return plain
	case optional:
		return orEmpty(check)
	default:
		return check
	}
}

// kindOf returns how to read the values of a key.
func kindOf(of reflect.Type, is string, check check, least, most int) kind {
	if of.Kind() == reflect.Slice {
		return list(check)
	}
	s, ok := scalars()[is]
	if !ok {
		s, ok = scalars()[of.String()]
	}
	if !ok {
		return text(check)
	}
	s.least, s.most = max(s.least, float64(least)), cmp.Or(float64(most), s.most)
	return s.read
}

// parameters returns the keys of the strategies' parameters.
func parameters(table Key) (all []Key) {
	for _, p := range strategy.AllParameters() {
		check := check(notBlank)
		switch {
		case p.Scheme != "":
			check = addressOr(p.Scheme, p.OneOf)
		case len(p.OneOf) > 0:
			check = oneOf(p.OneOf...)
		case p.Default == "":
			check = orEmpty(notBlank)
		}
		k := table
		k.Name, k.Default, k.Help = table.Name+"."+p.Key, p.Default, p.Help
		k.Flag, k.Resume = p.Flag, Inherited
		k.read = kindOf(reflect.TypeOf(p.Default), "", check, p.Least, p.Most)
		all = append(all, k)
	}
	return all
}

// tables are the names in each table, by its name; "" is the top level.
var tables = sync.OnceValue(func() map[string][]string { //nolint:gochecknoglobals // a table that never changes
	all := map[string][]string{}
	for _, k := range schema() {
		for path := k.path(); len(path) > 0; path = path[:len(path)-1] {
			table, name := strings.Join(path[:len(path)-1], "."), path[len(path)-1]
			if !slices.Contains(all[table], name) {
				all[table] = append(all[table], name)
			}
		}
	}
	return all
})

// declaredAs returns the name under which a key or table is declared: with "*" for names that the user chooses.
func declaredAs(path []string) string {
	as := ""
	for i, name := range path {
		switch names := tables()[as]; {
		case slices.Contains(names, "*"):
			name = "*"
		case strings.Contains(name, "."): // in quotes, it is one name
			return strings.Join(path, "?")
		}
		if as += "." + name; i == 0 {
			as = name
		}
	}
	return as
}

// find returns the key of that name, or the one with "*" that stands for it.
func find(path []string) (Key, bool) {
	as := declaredAs(path)
	i := slices.IndexFunc(schema(), func(k Key) bool { return k.Name == as })
	if i < 0 {
		return Key{}, false
	}
	return schema()[i], true
}

// split splits the name of a key. Only the names of variables, behind the last "*", may contain dots.
func split(key string) []string { return strings.SplitN(key, ".", 4) }

// unknown says what an unknown key was probably meant to be.
func unknown(key []string) (hint string) {
	last := len(key) - 1
	names := slices.DeleteFunc(slices.Clone(tables()[declaredAs(key[:last])]), func(name string) bool { return name == "*" })
	if best, ok := wording.Nearest(key[last], names); ok {
		return didYouMean(strings.Join(append(key[:last:last], best), "."))
	}
	for _, k := range schema() {
		if strings.HasSuffix("."+k.Name, "."+key[last]) && !k.named() {
			return didYouMean(k.Name)
		}
	}
	const most = 12 // names that somebody would read
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return "`codeloops config show` lists the keys"
	}
	return "valid here: " + strings.Join(names, ", ")
}

// path returns the parts of the key's name.
func (k Key) path() []string { return strings.Split(k.Name, ".") }

// named reports whether the key includes a name that the user chooses.
func (k Key) named() bool { return strings.Contains(k.Name, "*") }

// isList reports whether the key has several values.
func (k Key) isList() bool {
	_, isList := k.Default.([]string)
	return isList
}

// Check checks the words that are given with the flag.
func (k Key) Check(words []string) error {
	_, f := k.parse(words)
	return k.wrong(f)
}

func (k Key) wrong(f *fault) error {
	if f == nil {
		return nil
	}
	return &Error{Key: k.Name, Problem: k.said() + " " + f.problem, Hint: f.hint}
}

// Given returns the keys that the flag sets, with the words that it gives them.
func (k Key) Given(words []string) (map[string][]string, error) {
	if k.Name != "" {
		return map[string][]string{k.Name: words}, nil
	}
	set := map[string][]string{}
	var wrong *fault
	for _, one := range k.Sets {
		key, is, _ := strings.Cut(one, "=")
		target, _ := find(split(key))
		if slices.Equal(words, []string{"false"}) || wrong != nil {
			continue
		}
		set[key] = []string{strings.ReplaceAll(is, "{}", strings.Join(words, ""))}
		_, wrong = target.parse(set[key])
	}
	return set, k.wrong(wrong)
}

// DefaultText is the default for the help; "" if it is off or empty.
func (k Key) DefaultText() string {
	is := fmt.Sprint(fileForm(k.Default))
	if slices.Contains([]string{"", "0", "0s", "false", "[]", "default"}, is) {
		return ""
	}
	return is
}

// parse reads the words of a flag, or that of a variable.
func (k Key) parse(words []string) (any, *fault) {
	switch {
	case k.isList():
		return k.read(words)
	case len(words) != 1:
		return nil, &fault{problem: fmt.Sprintf("takes one value, not %d", len(words))}
	}
	return k.read(word(words[0]))
}

// said returns what the command line calls the key, or the flag that sets it in its stead.
func (k Key) said() string {
	for _, f := range flags() {
		if k.Flag == "" && slices.ContainsFunc(f.Sets, func(one string) bool { return strings.HasPrefix(one, k.Name+"=") }) {
			return f.said()
		}
	}
	return "--" + cmp.Or(k.Flag, strings.NewReplacer(".", "-", "_", "-").Replace(k.Name))
}
