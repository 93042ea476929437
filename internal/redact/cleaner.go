package redact

import (
	"reflect"
	"slices"

	"codeloops/internal/loop"
)

// made reports whether a text, given by its type and field, is codeloops' own: an id, a
// version, a hash or a fixed word. Those are not redacted.
func made(field string) bool {
	switch field {
	case "Session.ID", "Session.Version", "Session.View", "Base.BaseCommit", "Base.Checkpoint",
		"Template.Key", "Template.SHA256", "Decider.Role", "Decider.SHA256",
		"Turn.ID", "Noted.Name", "Change.State", "Change.Checkpoint", "Review.Seal", "Review.Boundary", "TurnFinished.State",
		"Notice.Stream", "Concern.Rule", "Concern.Kind", "Audit.Before", "Audit.After", "Finding.ID", "Ruling.Rule":
		return true
	}
	return false
}

// Rules returns the rules as a log keeps them.
func (r *Redactor) Rules(rules []loop.Rule) []loop.Rule {
	c := cleaner{Redactor: r}
	return c.value(reflect.ValueOf(rules)).Interface().([]loop.Rule)
}

// Event returns a redacted event.
func (r *Redactor) Event(e loop.Event) loop.Event {
	if r.matcher != nil {
		e, _ = r.clean(e)
	}
	return e
}

// clean returns a redacted event, and the files of the outputs that it names.
func (r *Redactor) clean(e loop.Event) (clean loop.Event, files []string) {
	c := cleaner{Redactor: r}
	return c.value(reflect.ValueOf(e)).Interface().(loop.Event), c.files
}

// A cleaner redacts all texts in a value of package loop by reflection, so that new fields are
// covered. Only values of type string are free text; named string types are fixed words.
type cleaner struct {
	*Redactor
	files []string // of the outputs in the value
}

// value returns a redacted copy that shares no texts with v.
func (c *cleaner) value(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			return reflect.ValueOf(c.String(v.String()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out := reflect.New(v.Type().Elem())
			out.Elem().Set(c.value(v.Elem()))
			return out
		}
	case reflect.Slice:
		if !v.IsNil() {
			out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				out.Index(i).Set(c.value(v.Index(i)))
			}
			return out
		}
	case reflect.Struct:
		return c.structure(v)
	default: // holds no text
	}
	return v
}

func (c *cleaner) structure(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	for field, is := range v.Fields() {
		if field.IsExported() && !made(v.Type().Name()+"."+field.Name) {
			out.FieldByIndex(field.Index).Set(c.value(is))
		}
	}
	switch was := v.Interface().(type) {
	case loop.Flag: // a partly redacted value would be a different setting
		if now := out.Addr().Interface().(*loop.Flag); !slices.Equal(now.Values, was.Values) {
			now.Values, now.Hidden = nil, true
		}
	case loop.Output:
		c.names(was.File)
	case loop.Late:
		c.names(was.File)
	}
	return out
}

func (c *cleaner) names(file string) {
	if file != "" {
		c.files = append(c.files, file)
	}
}
