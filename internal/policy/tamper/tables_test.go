package tamper

import (
	"reflect"
	"testing"
)

// TestTables: every expression in the tables compiles, and no required one is missing.
func TestTables(t *testing.T) {
	t.Parallel()
	tables, err := readTables()
	if err != nil {
		t.Fatal(err)
	}
	for key, p := range probes(tables) {
		if p == nil {
			t.Errorf("there is no %s", key)
			continue
		}
		p.expression()
	}
	for _, l := range tables.Languages {
		for key, p := range probes(l) {
			if p != nil {
				p.expression()
			} else if key == "Test" || key == "Declare" {
				t.Errorf("%v has no %s", l.Ext, key)
			}
		}
	}
}

func TestProbeOverLines(t *testing.T) {
	t.Parallel()
	var p probe
	if err := p.UnmarshalText([]byte("\n  a b\r\n  |c\n")); err != nil {
		t.Fatal(err)
	}
	if got := p.expression().String(); got != "a b|c" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkTables(b *testing.B) {
	for range b.N {
		if _, err := readTables(); err != nil {
			b.Fatal(err)
		}
	}
}

// probes returns the expressions in a struct, or in what it points to, by field name.
func probes(of any) map[string]*probe {
	all := map[string]*probe{}
	var in func(v reflect.Value)
	in = func(v reflect.Value) {
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case f.Type == reflect.TypeFor[*probe]():
				all[f.Name], _ = reflect.TypeAssert[*probe](v.Field(i))
			case f.Type.Kind() == reflect.Struct:
				in(v.Field(i))
			}
		}
	}
	in(reflect.Indirect(reflect.ValueOf(of)))
	return all
}
