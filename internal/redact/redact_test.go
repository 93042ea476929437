package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

const pem = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7
VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu
short
-----END PRIVATE KEY-----`

func TestString(t *testing.T) {
	t.Parallel()
	const token = "ghp_0123456789/abc+def="
	env := []string{
		"GITHUB_TOKEN=" + token,
		"my_secret_thing= padded-value \n",
		"DB_PASSWORD=pass\"word<\\>",
		"API_KEY=sk-1234567890",
		"LONGER_KEY=sk-1234567890-and-more",
		"SERVER_KEY=" + pem,
		"ESCAPED_KEY=" + strings.ReplaceAll(strings.ReplaceAll(pem, "M", "Q"), "\n", `\n`),
		"SHORT_TOKEN=abcde",
		"TOKENIZERS_PARALLELISM=false",
		"FEATURE_TOKEN=enabled",
		"MAX_TOKENS=128000",
		"PIN_PASSWORD=482913",
		"HOME=/home/somebody",
		"NOT_A_PAIR",
		"DATABASE_URL=postgres://app:x9%2Fkl-m2q@db.example/app",
		"DEV_URL=postgres://postgres:postgres@localhost/app,redis://:secretly@localhost",
		"HTTPS_PROXY=http://anna:Tr4vel-light@proxy:8080",
		"REMOTE=https://glpat_0123456789abcdefghij@git.example/a.git",
		"MAIL=mailto:anna@example.org see ssh://git@host:22/x",
	}
	quoted, err := json.Marshal("pass\"word<\\>")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(pem, "\n")
	for name, c := range map[string]struct{ in, want string }{
		"password in a URL":  {"at x9%2Fkl-m2q or x9/kl-m2q", "at " + Mark + " or " + Mark},
		"of a proxy":         {"http://anna:Tr4vel-light@proxy", "http://anna:" + Mark + "@proxy"},
		"token as a user":    {"glpat_0123456789abcdefghij", Mark},
		"words":              {"postgres secretly git anna", "postgres secretly git anna"},
		"nothing":            {"plain text", "plain text"},
		"empty":              {"", ""},
		"whole":              {token, Mark},
		"inside":             {"x" + token + "y", "x" + Mark + "y"},
		"twice":              {token + " " + token, Mark + " " + Mark},
		"trimmed":            {"padded-value", Mark},
		"touching":           {token + token, Mark},
		"longest first":      {"a sk-1234567890-and-more b", "a " + Mark + " b"},
		"json":               {string(quoted), `"` + Mark + `"`},
		"json, html kept":    {`"pass\"word<\\>"`, `"` + Mark + `"`},
		"url query":          {"?t=" + url.QueryEscape(token), "?t=" + Mark},
		"url path":           {"/" + url.PathEscape(token), "/" + Mark},
		"base64":             {base64.StdEncoding.EncodeToString([]byte(token)), Mark + "0="},
		"pem":                {pem, Mark},
		"pem in a diff":      {"+" + strings.Join(lines, "\n+"), "+" + lines[0] + "\n+" + Mark + "\n+" + Mark + "\n+short\n+" + lines[4]},
		"spelled line break": {"+" + strings.ReplaceAll(lines[1], "M", "Q"), "+" + Mark},
		"pem frame":          {lines[0], lines[0]},
		"too short":          {"abcde", "abcde"},
		"switch":             {"false enabled", "false enabled"},
		"count":              {"128000", "128000"},
		"digits":             {"482913", Mark},
		"name not secret":    {"/home/somebody", "/home/somebody"},
		"not utf-8":          {"\xff" + token + "\xfe", "\xff" + Mark + "\xfe"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := New(env).String(c.in); got != c.want {
				t.Errorf("String(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

// A secret is also found within base64 of a longer text, at every offset.
func TestBase64InsideOther(t *testing.T) {
	t.Parallel()
	const secret = "correct horse battery"
	r := New([]string{"X_PASSWORD=" + secret})
	for _, user := range []string{"", "a", "ab", "abc", "user:"} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			code := enc.EncodeToString([]byte(user + secret + "!"))
			got := r.String(code)
			left, err := enc.DecodeString(strings.ReplaceAll(got, Mark, ""))
			if !strings.Contains(got, Mark) || strings.Contains(string(left), secret[1:5]) {
				t.Errorf("after %q: %s became %s (%v)", user, code, got, err)
			}
		}
	}
}

// Without secrets, texts are not copied and files are not opened.
func TestNoSecretsCostNothing(t *testing.T) {
	t.Parallel()
	r := New([]string{"PATH=/bin", "A_TOKEN=", "B_KEY=true"})
	text := strings.Repeat("x", 1<<20)
	if unsafe.StringData(r.String(text)) != unsafe.StringData(text) {
		t.Error("the text was copied")
	}
	var out bytes.Buffer
	w := r.Writer(&out)
	if _, err := w.Write([]byte("as it is")); err != nil || out.String() != "as it is" {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
	if err := r.File(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Error(err)
	}
}

// naive is the obvious implementation: it marks every byte that any pattern covers.
func naive(patterns map[string]bool, text string) string {
	covered := make([]bool, len(text))
	for p := range patterns {
		for i := range len(text) {
			if strings.HasPrefix(text[i:], p) {
				for j := range len(p) {
					covered[i+j] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !covered[i]:
			b.WriteByte(text[i])
		case i == 0 || !covered[i-1]:
			b.WriteString(Mark)
		}
	}
	return b.String()
}

func checkAgainstNaive(t *testing.T, patterns map[string]bool, text string, rnd *rand.Rand) {
	t.Helper()
	r := &Redactor{matcher: newMatcher(patterns)}
	want := naive(patterns, text)
	if got := r.String(text); got != want {
		t.Fatalf("%v in %q\n got %q\nwant %q", patterns, text, got, want)
	}
	var out bytes.Buffer
	w := r.Writer(&out)
	for rest := text; rest != ""; {
		n := 1 + rnd.IntN(len(rest))
		if _, err := w.Write([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Fatalf("%v in %q, in pieces\n got %q\nwant %q", patterns, text, out.String(), want)
	}
}

func word(rnd *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "abc"[rnd.IntN(3)]
	}
	return string(b)
}

func TestAgainstNaive(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5_000 {
		patterns := map[string]bool{}
		for range 1 + rnd.IntN(4) {
			patterns[word(rnd, 2+rnd.IntN(6))] = true
		}
		checkAgainstNaive(t, patterns, word(rnd, rnd.IntN(60)), rnd)
	}
}

func FuzzAgainstNaive(f *testing.F) {
	f.Add("secret", "ecre", "a secret is a secretsecret", uint64(1))
	f.Add("aaa", "aab", "aaaabaaab", uint64(2))
	f.Fuzz(func(t *testing.T, a, b, text string, seed uint64) {
		if a == "" || b == "" || len(text) > 1<<10 {
			return
		}
		checkAgainstNaive(t, map[string]bool{a: true, b: true}, text, rand.New(rand.NewPCG(seed, 0)))
	})
}

// A writer holds back no more than the length of a secret.
func TestWriterHoldsLittle(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := New([]string{"A_KEY=aaaaaaaa"}).Writer(&out).(*writer)
	for range 1000 {
		if _, err := w.Write(bytes.Repeat([]byte("a"), 1000)); err != nil {
			t.Fatal(err)
		}
		if n := len(w.stream.held); n > 8 {
			t.Fatalf("holds %d bytes", n)
		}
	}
	if _, err := w.Write([]byte(" end")); err != nil || out.String() != Mark+" end" {
		t.Errorf("wrote %.80q, %v", out.String(), err)
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef"
	r := New([]string{"A_TOKEN=" + secret})
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	// The secret crosses the boundary between two blocks that are read.
	filler := strings.Repeat("x", 64<<10-5)
	write := func(text string, mode os.FileMode) os.FileInfo {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return st
	}

	before := write(filler+filler, 0o600)
	if err := r.File(path); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("a file without secrets was touched: %v", err)
	}

	write(filler+secret+filler, 0o600)
	if err := r.File(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != filler+Mark+filler {
		t.Errorf("file holds %d bytes, %v", len(got), err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode() != before.Mode() {
		t.Errorf("mode is %v, %v", st.Mode(), err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("files left: %v, %v", entries, err)
	}
}

func TestFileRefuses(t *testing.T) {
	t.Parallel()
	r := New([]string{"A_TOKEN=0123456789abcdef"})
	dir := t.TempDir()
	if err := r.File(dir); err == nil {
		t.Error("a directory was taken for a file")
	}
	if err := r.File(filepath.Join(dir, "missing")); err == nil {
		t.Error("a missing file was redacted")
	}
}

func BenchmarkString(b *testing.B) {
	r := New([]string{"A_KEY=sk-0123456789abcdefghijklmnopqrstuv", "B_KEY=" + pem, "C_TOKEN=ghp_qwertzuiop"})
	text := strings.Repeat("The quick brown fox jumps over the lazy dog; sk-0123 is not it.\n", 10<<20/64)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		r.String(text)
	}
}
