package attr

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// blobID returns the ID that git gives to content.
func blobID(content []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

// Git adds random files with random attributes and settings, some of them tracked with
// other content before; conversion here must produce the same blobs.
func TestRandomConversionLikeGit(t *testing.T) {
	t.Parallel()
	rounds := 25
	if testing.Short() {
		rounds = 4
	}
	for worker := range uint64(4) {
		t.Run(strconv.FormatUint(worker, 10), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			converted, guarded := 0, 0
			for round := range rounds {
				d := dice{rand.New(rand.NewPCG(worker, uint64(1000+round)))}
				c, g := w.convertLikeGit(d)
				converted, guarded = converted+c, guarded+g
				if t.Failed() {
					t.Fatalf("round %d", round)
				}
			}
			if converted < rounds || guarded < rounds/4 {
				t.Errorf("%d files were converted and %d spared in %d rounds", converted, guarded, rounds)
			}
		})
	}
}

// convertLikeGit makes files in a work tree and compares our conversion with git's. It
// returns how many files were converted, and how many were spared because of the index.
func (w *world) convertLikeGit(d dice) (converted, guarded int) {
	w.t.Helper()
	w.remove("tree/.git/index")
	w.remove("before")
	w.git("", "config", "core.autocrlf", d.pick("true", "input", "false", "INPUT"))
	w.git("", "config", "core.eol", d.pick("native", "lf"))
	w.git("", "config", "filter.none.smudge", "cat")
	w.git("", "config", "filter.none.required", "false")

	const files = 40
	var attributes, stored, list strings.Builder
	contents, before := make([]string, files), make([]string, files)
	for i := range files {
		name := fmt.Sprintf("f%02d", i)
		contents[i] = d.content()
		w.write("tree/"+name, contents[i])
		attributes.WriteString(name)
		for range d.IntN(3) {
			attributes.WriteString(" " + d.pick("text", "-text", "!text", "text=auto", "text=input", "text=odd", "eol=lf", "eol=crlf", "eol=x",
				"crlf", "-crlf", "crlf=input", "crlf=auto", "binary", "-ident", "filter=none", "filter=missing", "working-tree-encoding=UTF-8"))
		}
		attributes.WriteString("\n")
		if d.IntN(2) == 0 {
			before[i] = d.content()
			w.write("before/"+name, before[i])
			fmt.Fprintf(&stored, "../before/%s\n", name)
			fmt.Fprintf(&list, "100644 %s 0\t%s\n", blobID([]byte(before[i])), name)
		}
	}
	w.write("tree/.gitattributes", attributes.String())
	if list.Len() > 0 {
		w.git(stored.String(), "hash-object", "-w", "--no-filters", "--stdin-paths")
		w.git(list.String(), "update-index", "--index-info")
	}
	o, settings := w.open()
	w.git("", "add", ".")
	ids := strings.Split(w.git("", "ls-files", "-s", "--", "f*"), "\n")
	reader := New(o)
	for i := range files {
		_, name, _ := strings.Cut(ids[i], "\t")
		a := reader.Of(name)
		if settings.NeedsGit(a) {
			w.t.Errorf("%s: needs git, with %+v", name, a)
		}
		asked := false
		content := []byte(contents[i])
		got := settings.Normalize(content, a, func() bool {
			asked = true
			return HasCRLF([]byte(before[i]))
		})
		if string(content) != contents[i] {
			w.t.Errorf("%s: the content was changed", name)
		}
		changed := string(got) != contents[i]
		if changed {
			converted++
		} else if asked {
			guarded++
		}
		if changed && !settings.Converts(a) {
			w.t.Errorf("%s: converted although Converts denies it", name)
		}
		if want := strings.Fields(ids[i])[1]; blobID(got) != want {
			w.t.Errorf("%s, %+v, %+v:\nfrom %q, in the index %q\n got %q\nwant %q", name, settings, a, contents[i], before[i], got,
				w.git("", "cat-file", "blob", want))
		}
	}
	return converted, guarded
}

// TestTextLikeGit: content counts as text exactly when git takes it for text.
func TestTextLikeGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tree/.gitattributes", "* text=auto\n")
	_, settings := w.open()
	var list strings.Builder
	var contents []string
	for _, odd := range []string{"", "\x01", "\x7f", "\x01\x02", "\x1a", "\x80", "\x1b", "\v", "\x00", "\r"} {
		for _, plain := range []int{0, 1, 127, 128, 129, 255, 256, 257} {
			text := strings.Repeat("x", plain)
			contents = append(contents, text+odd+"\r\n", text+"\r\n"+odd, odd+text+"\r\n\x1a")
		}
	}
	for i, content := range contents {
		name := fmt.Sprintf("f%d", i)
		w.write("tree/"+name, content)
		list.WriteString(name + "\n")
	}
	ids := strings.Fields(w.git(list.String(), "hash-object", "--stdin-paths"))
	a := Attrs{text: {State: Valued, Text: "auto"}}
	for i, content := range contents {
		got := settings.Normalize([]byte(content), a, func() bool { return false })
		if blobID(got) != ids[i] {
			t.Errorf("%q is classified differently by git", content)
		}
	}
}

func TestNeedsGit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for key, value := range map[string]string{
		"filter.up.clean": "tr a-z A-Z", "filter.my.lfs.process": "git-lfs filter-process", "filter.must.required": "true",
		"filter.out.smudge": "cat", "filter.empty.clean": "", "filter.gone.clean": "cat",
	} {
		w.git("", "config", key, value)
	}
	w.git("", "config", "--add", "filter.gone.clean", "")
	w.write("tree/.gitattributes", strings.Join([]string{
		"ident ident", "noident -ident", "up filter=up", "process filter=my.lfs", "must filter=must", "out filter=out",
		"empty filter=empty", "gone filter=gone", "unknown filter=unknown", "nofilter -filter", "setfilter filter",
		"utf16 working-tree-encoding=UTF-16LE", "utf8 working-tree-encoding=UTF8", "utf-8 working-tree-encoding=utf-8",
		"noenc working-tree-encoding=", "unset -working-tree-encoding",
	}, "\n"))
	o, settings := w.open()
	reader := New(o)
	want := map[string]bool{"ident": true, "up": true, "process": true, "must": true, "utf16": true}
	for _, name := range []string{
		"ident", "noident", "up", "process", "must", "out", "empty", "gone", "unknown", "nofilter", "setfilter", "utf16", "utf8",
		"utf-8", "noenc", "unset", "plain",
	} {
		if got := settings.NeedsGit(reader.Of(name)); got != want[name] {
			t.Errorf("%s: NeedsGit = %v", name, got)
		}
	}
}

func TestSettingsRefuse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := func() error {
		_, o, err := openConfig(w)
		if err != nil {
			return err
		}
		_, err = SettingsOf(o)
		return err
	}
	if err := r(); err != nil {
		t.Fatal(err)
	}
	w.git("", "config", "core.autocrlf", "perhaps")
	if r() == nil {
		t.Error("core.autocrlf = perhaps is accepted")
	}
}

func FuzzNormalize(f *testing.F) {
	f.Add([]byte("a\r\nb\n"), "auto", true)
	f.Add([]byte("a\r\r\n\x00"), "input", false)
	f.Fuzz(func(t *testing.T, content []byte, mode string, index bool) {
		for _, a := range []Attrs{{text: {State: Valued, Text: mode}}, {text: {State: Set}}, {eol: {State: Valued, Text: mode}}} {
			s := Settings{AutoCRLF: true}
			got := s.Normalize(content, a, func() bool { return index })
			if strings.ReplaceAll(string(got), "\r", "") != strings.ReplaceAll(string(content), "\r", "") {
				t.Errorf("%q became %q", content, got)
			}
			if len(got) > len(content) {
				t.Errorf("%q grew to %q", content, got)
			}
		}
	})
}
