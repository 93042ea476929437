package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	// minValue is the minimal length of a secret in bytes. Shorter values occur in any
	// text by chance: redacting them would damage diffs, and they are easily guessed anyway.
	minValue = 6
	// minLine is the same for a line of a secret of several lines, which may be part of a
	// common format.
	minLine = 16
	// minBase64 is the same for base64 without its ends.
	minBase64 = 8
	// minToken is the minimal length of a user in a URL that is taken for a token.
	minToken = 20
)

// secretValue reports whether a value can be a secret. Common words of configuration are not,
// although TOKENIZERS_PARALLELISM looks like a secret, and neither is a number of TOKENS.
func secretValue(name, value string) bool {
	if len(value) < minValue || slices.Contains([]string{
		"always", "default", "disable", "disabled", "enable", "enabled", "ignore",
		"optional", "prefer", "redacted", Mark, "required", "undefined",
		"basic", "bearer", "digest", "kerberos", "negotiate", "oauth2", "password", // kinds of AUTH
	}, strings.ToLower(value)) {
		return false
	}
	count := strings.Trim(value, "0123456789") == ""
	return !count || !strings.Contains(strings.ToUpper(name), "TOKENS")
}

// inURLs returns the passwords, and the tokens in place of a user, in the URLs of a value. What is as good as
// a word, as in postgres://postgres:postgres@localhost, protects nothing and occurs in any text.
func inURLs(value string) (secrets []string) {
	if !strings.Contains(value, "://") {
		return nil
	}
	for _, m := range regexp.MustCompile(`://([^/?#@:\s]*)(?::([^/?#@\s]*))?@`).FindAllStringSubmatch(value, -1) {
		user, password := m[1], m[2]
		if len(user) >= minToken {
			secrets = append(secrets, user)
		}
		word := strings.Trim(password, "abcdefghijklmnopqrstuvwxyz-_") == "" && len(password) < minToken
		if password == user || word || !secretValue("", password) {
			continue
		}
		secrets = append(secrets, password)
		if plain, err := url.PathUnescape(password); err == nil && plain != password {
			secrets = append(secrets, plain)
		}
	}
	return secrets
}

// addForms adds all forms in which a value may occur.
func addForms(patterns map[string]bool, value string) {
	addText(patterns, value)
	addBase64(patterns, value)
	// Line breaks in variables are often written as \n.
	lines := strings.FieldsFunc(strings.ReplaceAll(value, `\n`, "\n"), func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) < 2 {
		return
	}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		// The frame of a PEM block is no secret.
		if len(line) >= minLine && !strings.HasPrefix(line, "-----") {
			addText(patterns, line)
		}
	}
}

// addText adds a text as it is and with the escapes of JSON and of URLs.
func addText(patterns map[string]bool, text string) {
	patterns[text] = true
	patterns[url.QueryEscape(text)] = true
	patterns[url.PathEscape(text)] = true
	for _, html := range []bool{true, false} {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(text) == nil {
			quoted := strings.TrimSuffix(b.String(), "\n")
			patterns[quoted[1:len(quoted)-1]] = true
		}
	}
}

// addBase64 adds the base64 of text at all three alignments, without the characters that depend
// on the bytes around it.
func addBase64(patterns map[string]bool, text string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before, cut := range []int{0, 2, 3} {
			code := enc.EncodeToString([]byte("\x00\x00"[:before] + text))
			code = code[cut : (before+len(text))*8/6]
			if len(code) >= minBase64 {
				patterns[code] = true
			}
		}
	}
}
