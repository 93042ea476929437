package config

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

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
//	switch   a flag of another kind that sets it
//	flags    on a table: what its flags begin with; without it, its keys have none
//	resume   what a resumed run does with its flag; without it, the log keeps it
//	trust    "needed": a project file needs the user's trust; "own": no project file may set it
//	looser   when a value constrains a run less than an earlier one, one of the names in [loosers];
//	         without it, never
//	show     "often": the example file begins with it; "brief": even the shortest help lists its
//	         flag; "both"; "file": its flag is in no help, because it is set in a file once
//	help     what it does; braces hold what its flag calls the value
//	more     what the example file says in addition
type Key struct {
	Name     string // with dots between tables; "*" stands for a name that the user chooses
	Flag     string // "" if it has none
	Short    string
	Switch   string // a flag of another kind that sets it; "" if there is none
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

	read  kind
	own   bool
	trust bool
	looser
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

var flags = sync.OnceValue(func() schema { //nolint:gochecknoglobals // a table that never changes
	all := slices.Concat(newSchema(), declared(reflect.TypeFor[once](), Key{}, nil))
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

// newSchema returns all keys in the order in which to show them: those of the top level, then
// table by table. It is made once, because that takes a while.
var newSchema = sync.OnceValue(func() schema { //nolint:gochecknoglobals // a table that never changes
	s := declared(reflect.TypeFor[Config](), Key{}, nil)
	slices.SortStableFunc(s, func(a, b Key) int { return cmp.Compare(tableOrder(a), tableOrder(b)) })
	return s
})

// tableOrder puts the keys of the top level first.
func tableOrder(k Key) int {
	if strings.Contains(k.Name, ".") {
		return 1
	}
	return 0
}

// A schema is all keys.
type schema []Key

// declared returns the keys of a struct. Its table's name and properties are in parent;
// flags is what its flags begin with, nil if its keys have none.
func declared(of reflect.Type, parent Key, flags *string) (all schema) {
	prefix := ""
	if parent.Name == "" {
		flags = &prefix
	}
	for field := range of.Fields() {
		tag := field.Tag
		k := parent
		k.Name = strings.TrimPrefix(parent.Name+"."+tag.Get("key"), ".")
		k.trust, k.own = parent.trust || tag.Get("trust") == "needed", parent.own || tag.Get("trust") == "own"
		switch {
		case field.Type == reflect.TypeFor[topic]():
			parent.Topic = tag.Get("topic")
		case field.Anonymous && field.IsExported():
			k.Name = parent.Name
			all = append(all, declared(field.Type, k, flags)...)
		case tag.Get("key") == ",remain":
			all = append(all, parameters(parent)...)
		case tag.Get("key") == "" && tag.Get("flag") == "":
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
	k.read, k.Directory, k.Agents = kindOf(of, is, k.Choices, least), is == "dir", is == "agents"
	k.Default = k.readDefault(of, tag.Get("default"))
	k.Switch = tag.Get("switch")
	k.Help, k.More, k.Resume = tag.Get("help"), tag.Get("more"), Resume(tag.Get("resume"))
	show := tag.Get("show")
	k.Often, k.Brief, k.Unlisted = show == "often" || show == "both", show == "brief" || show == "both", show == "file"
	if table, _, isTable := strings.Cut(k.Name, "."); isTable && flags != nil {
		k.Help = strings.NewReplacer("the role's", "the "+table+"'s", "the role", "the "+table).Replace(k.Help)
	}
	if name, short, _ := strings.Cut(tag.Get("flag"), ","); name != "" && flags != nil {
		k.Flag, k.Short = *flags+name, short
	}
	if !k.named() {
		k.looser = loosers(k.Choices)[tag.Get("looser")]
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

// kindOf returns how to read the values of a key.
func kindOf(of reflect.Type, is string, choices []string, least int) kind {
	name, optional := strings.CutSuffix(is, "?")
	check := checks()[name]
	switch {
	case choices != nil:
		check = oneOf(choices...)
	case optional:
		check = orEmpty(check)
	case check == nil:
		check = plain
	}
	switch of {
	case reflect.TypeFor[time.Duration]():
		return duration
	case reflect.TypeFor[Size]():
		return size(Size(least))
	}
	switch of.Kind() {
	case reflect.Bool:
		return toggle
	case reflect.Slice:
		return list(check)
	case reflect.Float64:
		return map[string]kind{"dollars": dollars(), "percent": percent(), "fraction": fraction()}[is]
	case reflect.Int:
		if is == "times" {
			return times
		}
		return count(least)
	}
	if is == "quorum" {
		return quorum
	}
	return text(check)
}

// parameters returns the keys of the strategies' parameters.
func parameters(table Key) (all schema) {
	for _, p := range strategy.AllParameters() {
		k := table
		k.Name, k.Default, k.Help = table.Name+"."+p.Key, p.Default, p.Help
		k.Flag, k.Resume = p.Flag, Inherited
		k.read = valueOf(p)
		all = append(all, k)
	}
	return all
}

// valueOf returns the kind of a parameter.
func valueOf(p strategy.Parameter) kind {
	switch p.Default.(type) {
	case int:
		return countTo(p.Least, cmp.Or(p.Most, math.MaxInt32))
	case float64:
		return fraction()
	case bool:
		return toggle
	case []string:
		return list(notBlank)
	}
	switch {
	case p.Scheme != "":
		return text(addressOr(p.Scheme, p.OneOf))
	case len(p.OneOf) > 0:
		return choice(p.OneOf...)
	}
	if p.Default == "" {
		return text(orEmpty(notBlank))
	}
	return text(notBlank)
}

// find returns the key of that name, or the one with "*" that stands for it.
func (s schema) find(key []string) (Key, bool) {
	for _, candidate := range s {
		pattern := candidate.path()
		if len(pattern) == len(key) && matches(pattern, key) {
			return candidate, true
		}
	}
	return Key{}, false
}

// isTable reports whether there are keys below key.
func (s schema) isTable(key []string) bool {
	return slices.ContainsFunc(s, func(candidate Key) bool {
		pattern := candidate.path()
		return len(pattern) > len(key) && matches(pattern, key)
	})
}

// siblings lists the valid names in the table that key is in, including tables.
func (s schema) siblings(key []string) []string {
	var names []string
	last := len(key) - 1
	for _, candidate := range s {
		pattern := candidate.path()
		if len(pattern) < len(key) || !matches(pattern, key[:last]) {
			continue
		}
		if name := pattern[last]; name != "*" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// hint says what an unknown key was probably meant to be.
func (s schema) hint(key []string) string {
	last := len(key) - 1
	table := strings.Join(append(key[:last:last], ""), ".")
	names := s.siblings(key)
	if best, ok := wording.Nearest(key[last], names); ok {
		return didYouMean(table + best)
	}
	for _, candidate := range s {
		if pattern := candidate.path(); pattern[len(pattern)-1] == key[last] && !candidate.named() {
			return didYouMean(candidate.Name)
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

// scalar reports whether a variable can set the key.
func (k Key) scalar() bool {
	_, isList := k.Default.([]string)
	return !isList && !k.named()
}

// variable returns the name of the environment variable for the key.
func (k Key) variable() string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(k.Name, ".", "_"))
}

// said returns what the command line calls the key.
func (k Key) said() string {
	return "--" + cmp.Or(k.Flag, k.Switch, strings.NewReplacer(".", "-", "_", "-").Replace(k.Name))
}

// matches reports whether pattern begins with the parts of key.
func matches(pattern, key []string) bool {
	for i, part := range key {
		if pattern[i] != "*" && pattern[i] != part {
			return false
		}
	}
	return true
}
