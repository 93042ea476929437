package verdict

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/loop"
)

// value returns the last value of a key, nil for none.
func (o object) value(key string) any {
	for _, m := range slices.Backward(o) {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) text(key string) string {
	v := o.value(key)
	if items, ok := v.([]any); ok {
		return bullets(texts(items))
	}
	return textOf(v)
}

func (o object) list(key string) []string {
	switch v := o.value(key).(type) {
	case []any:
		return texts(v)
	case nil:
		return nil
	case bool: // "required_changes": false is none
		if !v {
			return nil
		}
		return []string{key}
	default: // a single item that should be a list must not be lost
		return texts([]any{v})
	}
}

func (o object) fraction(key string) *float64 {
	switch v := o.value(key).(type) {
	case json.Number:
		if n, err := v.Float64(); err == nil && n >= 0 && n <= 1 {
			return &n
		}
	case string:
		return fraction(v)
	}
	return nil
}

func (o object) risks() []loop.Risk {
	items, isList := o.value("risks").([]any)
	if one := o.value("risks"); !isList && one != nil {
		items = []any{one}
	}
	var risks []loop.Risk
	for _, item := range items {
		risk := loop.Risk{Detail: textOf(item)}
		m, ok := item.(map[string]any)
		if ok {
			risk.Type = textOf(m["type"])
			risk.Detail = detail(m)
		}
		if risk != (loop.Risk{}) || ok { // an empty object is an incomplete risk, which the contract rejects
			risks = append(risks, risk)
		}
	}
	return risks
}

func texts(items []any) (out []string) {
	for _, item := range items {
		if t := textOf(item); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// textOf converts a JSON value to text: an object to the member that describes it, or else
// to JSON.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case map[string]any:
		if d := detail(v); d != "" || len(v) == 0 {
			return d
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

// detail returns the member that describes an issue or a risk.
func detail(m map[string]any) string {
	for _, key := range []string{"note", "detail", "description", "message", "issue", "change", "text", "title", "reason", "why"} {
		if s, ok := m[key].(string); ok && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}
