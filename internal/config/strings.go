package config

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"codeloops/internal/agent/transcript"
	"codeloops/internal/loop"
	"codeloops/internal/prompt"
	"codeloops/internal/strategy"
	"codeloops/internal/wording"
)

// A check rejects the strings that a key does not take.
type check func(string) *fault

// of applies the check. Flags and variables may hold any bytes, so it looks for UTF-8 first.
func (c check) of(s string) *fault {
	if !utf8.ValidString(s) {
		return &fault{problem: "must be UTF-8 text"}
	}
	return c(s)
}

// plain rejects what no argument, path or variable can hold.
func plain(s string) *fault {
	if strings.ContainsRune(s, 0) {
		return &fault{problem: "must not hold a NUL character"}
	}
	return nil
}

func notBlank(s string) *fault {
	if strings.TrimSpace(s) == "" {
		return &fault{problem: "must not be empty"}
	}
	return plain(s)
}

// addressOr rejects what is neither one of the names nor the URL of a server.
func addressOr(scheme string, names []string) check {
	return func(s string) *fault {
		if strings.HasPrefix(s, scheme+"://") {
			return address(scheme, s)
		}
		return oneOf(append(names, scheme+"://…")...)(s)
	}
}

// address rejects what is not the URL of a server. Its messages do not quote the value,
// which may hold a password.
func address(scheme, s string) *fault {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != scheme || u.Host == "" && u.Query().Get("host") == "" {
		return &fault{problem: "must be the URL of a server", hint: "write it like " + scheme + "://user@host/database"}
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		return &fault{
			problem: "must not hold a password: it would be shown and logged",
			hint:    "put it into ~/.pgpass or PGPASSWORD, and leave it out here",
		}
	}
	return plain(s)
}

// Address rejects what is not the URL of a server with the scheme, or holds a password.
func Address(scheme, s string) error {
	if f := address(scheme, s); f != nil {
		return &Error{Problem: "the address " + f.problem, Hint: f.hint}
	}
	return nil
}

const nameRule = "a name has letters, digits, - and _, and begins with a letter or digit"

// modelName rejects what an agent could take for one of its flags, because a project file
// may set the model without being trusted.
func modelName(s string) *fault {
	if strings.HasPrefix(s, "-") || s != "" && strings.TrimSpace(s) == "" || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return &fault{problem: fmt.Sprintf("must be a model's name, not %q", short(s))}
	}
	return nil
}

// agentAndModel rejects what is not an agent's name, with an optional colon and model. What comes
// before the colon could be a key of [agents].
func agentAndModel(s string) *fault {
	const hint = `write it like "codex" or "claude:haiku"`
	agent, model, hasModel := strings.Cut(s, ":")
	switch {
	case agent == "":
		return &fault{problem: "must not be empty", hint: hint}
	case !isName(agent):
		return &fault{problem: fmt.Sprintf("must be an agent's name, not %q", short(agent)), hint: hint}
	case hasModel && model == "":
		return &fault{problem: "must have a model after the colon", hint: hint}
	}
	return modelName(model)
}

// globPattern rejects what path.Match cannot parse or no variable can match.
func globPattern(s string) *fault {
	if _, err := path.Match(s, ""); err != nil || strings.Contains(s, "=") {
		return &fault{problem: fmt.Sprintf("must be a name or a glob, not %q", short(s))}
	}
	return notBlank(s)
}

var bareName = wording.Pattern(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// isName reports whether s can be a bare TOML key, and a command-line argument that is not
// taken for a flag.
func isName(s string) bool { return bareName().MatchString(s) }

// checks are the checks of strings by their names in the tag "is". They are made once, because that takes a while.
var checks = sync.OnceValue(func() map[string]check { //nolint:gochecknoglobals // a table that never changes
	return map[string]check{
		"": plain, "agent": agentAndModel, "agents": agentAndModel, "model": modelName, "variable": globPattern,
		"text": notBlank, "dir": orEmpty(notBlank), "path": pathPattern, "endpoint": webAddress,
		"critique": asTemplate(prompt.ForCritique), "refinement": asTemplate(prompt.ForRefinement), "task": asTemplate(prompt.ForTask),
		"schema": jsonSchema, "strategy": oneOf(strategy.Names()...), "loop": oneOf(strategy.Loops()...),
		"output": oneOf(append([]string{"text"}, transcript.Formats()...)...), "decision": oneOf(Decisions()...), "sign": oneOf("test_gone", "fewer_assertions", "skip_added", "gate_changed", "expectation_changed"),
	}
})

// orEmpty allows the empty string as well.
func orEmpty(check check) check {
	return func(s string) *fault {
		if s == "" {
			return nil
		}
		return check(s)
	}
}

// webAddress rejects what is not the URL of an endpoint.
func webAddress(s string) *fault {
	if address("http", s) == nil || address("https", s) == nil {
		return nil
	}
	return &fault{
		problem: "must be the URL of an endpoint, without a password",
		hint:    `write it like "https://api.example.com/v1", and the name of the key's variable in embeddings_key_env`,
	}
}

// checkTemplate rejects what is not a template for a role of a strategy.
func checkTemplate(role, text string) *fault {
	return asTemplate(func(text string) (prompt.Template, error) {
		return prompt.ForRole(text, strategy.Choosing(loop.Role(role)))
	})(text)
}

// asTemplate rejects what is not a template of a prompt. Its whole text is in the file, so trust in the
// file covers it.
func asTemplate(read func(string) (prompt.Template, error)) check {
	return func(s string) *fault {
		_, err := read(s)
		if bad, ok := errors.AsType[*prompt.Error](err); ok {
			return &fault{problem: bad.Problem, hint: bad.Hint, line: bad.Line}
		}
		return nil
	}
}

// jsonSchema rejects a text that is not a valid JSON schema.
func jsonSchema(s string) *fault {
	if _, err := strategy.ReadSchema(s); err != nil {
		return &fault{problem: "is not a JSON schema: " + err.Error(), hint: "write it as JSON, as in accepts = '{\"type\": \"object\"}'"}
	}
	return nil
}

// pathPattern rejects globs that cannot match a path in a repository.
func pathPattern(s string) *fault {
	const hint = `write it like "src/**" or "**/*.md"`
	switch {
	case strings.TrimSpace(s) == "":
		return &fault{problem: "must not be empty", hint: hint}
	case strings.HasPrefix(s, "/"), strings.Contains("/"+s+"/", "/../"):
		return &fault{problem: fmt.Sprintf("must be a path within the repository, not %q", short(s)), hint: hint}
	case strings.HasPrefix(s, "!"):
		return &fault{problem: fmt.Sprintf("cannot be negated with \"!\", as in %q", short(s)), hint: "use deny_paths for what may not be changed"}
	case !doublestar.ValidatePattern(s):
		return &fault{problem: fmt.Sprintf("must be a glob, not %q", short(s)), hint: hint}
	}
	return nil
}
