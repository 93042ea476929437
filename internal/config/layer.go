package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"codeloops/internal/loop"
)

// A value is one setting of one layer.
type value struct {
	is     any // as [Config] holds it
	origin Origin
}

// A layer is what one place of configuration sets, by key.
type layer map[string]value

// splitModels divides agents that are written with their model, as in claude:opus.
func (l layer) splitModels() (problems Errors) {
	for _, key := range slices.Sorted(maps.Keys(l)) {
		of, isAgent := strings.CutSuffix("."+key, ".agent")
		whole := l[key]
		name, _ := whole.is.(string)
		if !isAgent || !strings.Contains(name, ":") {
			continue
		}
		who, origin, model := loop.ParseAgent(name), whole.origin, strings.TrimPrefix(of+".model", ".")
		if own, has := l[model]; has && own.is != "" && own.is != who.Model {
			problems = append(problems, origin.blame(key, fmt.Sprintf("%s %s has another model than %s %s", origin.Name, name, own.origin.Name, own.is), "leave one of the two models out"))
		}
		l[key], l[model] = value{who.Agent, origin}, value{who.Model, origin}
	}
	return problems
}

// cast gives the roles the layer's general agent, model and fallback unless the layer sets the role's own. An empty
// agent or model counts as not set, an empty fallback as set. A role with another agent than the general one, or than in
// the lower layers, does not get the model of that.
func (l layer) cast(lower layer) {
	for _, role := range []string{"actor.", "critic."} {
		for _, name := range []string{"agent", "fallback", "model"} {
			if own, ok := l[role+name]; ok && own.is != "" {
				continue
			}
			delete(l, role+name)
			general, ok := l[name]
			if other := l["agent"].is != nil && l[role+"agent"].is != l["agent"].is; ok && !(name == "model" && other) {
				l[role+name] = general
			}
		}
		_, has := l[role+"model"]
		if agent, sets := l[role+"agent"]; sets && !has && agent.is != lower[role+"agent"].is {
			l[role+"model"] = value{"", Origin{Layer: Default}}
		}
	}
}

// merge merges the layers, lowest first. An agent in a higher layer replaces the one of that name as a whole.
func merge(layers []layer) layer {
	all := layer{}
	for _, l := range layers {
		l.cast(all)
		maps.DeleteFunc(all, func(key string, _ value) bool {
			parts := strings.SplitN(key, ".", 3)
			_, again := l["agents."+parts[min(1, len(parts)-1)]+".command"]
			return parts[0] == "agents" && again
		})
		maps.Copy(all, l)
	}
	return all
}

// tables returns the values below a table by the names that the user has chosen there, and by key.
func (l layer) tables(table string) map[string]map[string]any {
	all := map[string]map[string]any{}
	for key, is := range l {
		rest, below := strings.CutPrefix(key, table+".")
		name, own, _ := strings.Cut(rest, ".")
		key, variable, isVariable := strings.Cut(own, ".")
		if !below {
			continue
		}
		if all[name] == nil {
			all[name] = map[string]any{}
		}
		if !isVariable {
			all[name][key] = is.is
			continue
		}
		variables, _ := all[name][key].(map[string]any)
		if variables == nil {
			variables = map[string]any{}
			all[name][key] = variables
		}
		variables[variable] = is.is
	}
	return all
}

// first returns the first key that is set in a table.
func (l layer) first(table string) string {
	keys := slices.DeleteFunc(slices.Collect(maps.Keys(l)), func(key string) bool { return !strings.HasPrefix(key, table) })
	return slices.MinFunc(keys, func(a, b string) int { return cmp.Or(l[a].origin.Line-l[b].origin.Line, cmp.Compare(a, b)) })
}

// defaults is the lowest layer.
func defaults() layer {
	l := layer{}
	for _, k := range schema() {
		if !k.named() {
			l[k.Name] = value{k.Default, Origin{Layer: Default}}
		}
	}
	return l
}

// profile returns what the effective profile of the layers sets. This layer comes right above the defaults.
func profile(layers []layer) layer {
	strict := false
	for _, l := range layers {
		if is, ok := l["profile"]; ok {
			strict = is.is == "strict"
		}
	}
	if !strict {
		return nil
	}
	origin := Origin{Layer: Default, Name: "profile strict"}
	return layer{"approval_threshold": {0.9, origin}, "policy.open_findings": {"refuse", origin}}
}
