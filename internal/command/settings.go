package command

import (
	"github.com/spf13/pflag"

	"codeloops/internal/cli/manual"
	"codeloops/internal/loop"
	"codeloops/internal/run"
)

// AddSetting declares the flag of a setting of runs. The defaults of settings live
// in the configuration and are not repeated here.
func AddSetting(f *pflag.FlagSet, s run.Setting) {
	switch s.Kind {
	case run.Text, run.File:
		f.StringP(s.Flag, s.Short, "", s.Usage)
	case run.Number:
		f.IntP(s.Flag, s.Short, 0, s.Usage)
	case run.Switch:
		f.BoolP(s.Flag, s.Short, false, s.Usage)
	case run.List:
		f.StringSliceP(s.Flag, s.Short, nil, s.Usage)
	case run.Lines:
		f.StringArrayP(s.Flag, s.Short, nil, s.Usage)
	}
	manual.Under(string(s.Group), f, s.Flag)
}

// Given are the settings among the flags, in the order in which they were typed.
func Given(flags *pflag.FlagSet) (said []loop.Flag) {
	known := map[string]bool{}
	for _, s := range run.Table() {
		known[s.Flag] = true
	}
	flags.Visit(func(f *pflag.Flag) {
		if !known[f.Name] {
			return
		}
		values := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			values = several.GetSlice()
		}
		said = append(said, loop.Flag{Name: f.Name, Values: values})
	})
	return said
}
