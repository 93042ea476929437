package diff

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"codeloops/internal/diff/checkpoint"
	"codeloops/internal/diff/repo"
	"codeloops/internal/diff/shown"
)

// sways are what has git show, or run, something else than it would by itself: whoever
// looks at the work by means of git can be lied to. Nothing here believes them. They
// stand by names that tell a person where to look.
type sways map[string]sway

// A sway is one of them.
type sway struct {
	digest string
	says   string // what stands there, as the end of a sentence
}

// swaysMark stands before their names in a checkpoint. Alone it says that they are
// known.
const swaysMark = "git: "

// swaysOf returns those of a repository after a scan.
func (t *Tree) swaysOf(r *repo.Repository) sways {
	all := maps.Clone(t.decided.sways)
	t.addHooks(all, r)
	for name, id := range t.refs.Below(replacements, t.looked()) {
		all[name] = swayed(id, ", which is shown as "+shown.Name(id))
	}
	for _, name := range []string{"info/grafts", "shallow", "info/sparse-checkout"} {
		path := filepath.Join(r.CommonDir, filepath.FromSlash(name))
		if digest := t.digestOf(path); digest != "" {
			all[t.nameOf(path)] = sway{digest: digest}
		}
	}
	for name, m := range map[string]marks{"assume-unchanged": t.tracked.marked.assumed, "skip-worktree": t.tracked.marked.skipped} {
		if m.count > 0 {
			all[name] = sway{m.digest, " is said of " + m.String()}
		}
	}
	if t.elsewhere != "" {
		all["the repository that git finds"] = swayed(t.elsewhere, " is "+shown.Name(t.elsewhere))
	}
	return all
}

// keep adds them to what a checkpoint keeps.
func (s sways) keep(kept map[string]string) {
	kept[swaysMark] = ""
	for name, sway := range s {
		kept[swaysMark+name] = sway.digest
	}
}

// keptSways takes them out of what a checkpoint has kept; nil: they are not known.
func keptSways(kept map[string]string) sways {
	if _, known := kept[swaysMark]; !known {
		return nil
	}
	all := make(sways)
	for name, digest := range kept {
		if name, is := strings.CutPrefix(name, swaysMark); is && name != "" {
			all[name] = sway{digest: digest}
		}
	}
	maps.DeleteFunc(kept, func(name, _ string) bool { return strings.HasPrefix(name, swaysMark) })
	return all
}

func swayed(value, says string) sway { return sway{checkpoint.Digest(value), says} }

const theHook = "the hook "

// addHooks adds the hooks that git would run.
func (t *Tree) addHooks(all sways, r *repo.Repository) {
	dir, set, err := r.Config.Path("core.hooksPath")
	switch {
	case err != nil || !set:
		dir = filepath.Join(r.CommonDir, "hooks")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(r.WorkTree, dir)
	}
	for _, name := range hooks() {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && runs(info) {
			all[theHook+t.nameOf(path)] = swayed(t.digestOf(path), "")
		}
	}
}

// hooks are the names under which git runs one, by githooks(5).
func hooks() []string {
	return []string{
		"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
		"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive",
		"post-update", "reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate",
		"fsmonitor-watchman", "query-watchman", "p4-changelist", "p4-prepare-changelist", "p4-post-changelist", "p4-pre-submit", "post-index-change",
	}
}

// runs reports whether git would run a hook. On Windows every one is run.
func runs(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 || filepath.Separator == '\\' }

// swaysIn returns those among the settings of a repository.
func swaysIn(c *repo.Config) sways {
	all := make(sways)
	for _, e := range c.Entries() {
		if _, known := all[e.Key]; !known && swaying(e.Key) {
			values := c.All(e.Key)
			all[e.Key] = swayed(fmt.Sprintf("%q", values), " = "+said(values))
		}
	}
	return all
}

// said writes the values of a setting, without passwords that stand in addresses.
func said(values []string) string {
	const most = 3
	var texts []string
	for i, v := range values {
		if i == most {
			texts = append(texts, fmt.Sprintf("%d more", len(values)-most))
			break
		}
		texts = append(texts, strconv.Quote(shortened(withoutPasswords(v))))
	}
	return strings.Join(texts, ", ")
}

func shortened(text string) string {
	const most = 200
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// withoutPasswords takes out of addresses who signs in there.
func withoutPasswords(text string) string {
	return regexp.MustCompile(`://[^/@\s]*@`).ReplaceAllString(text, "://…@")
}

// swaying reports whether a setting is one of them. Settings that git itself writes
// as people work with it are not (user, branch, remote.*.url, ...).
func swaying(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	names, known := swayingNames()[section]
	return known && (names == "" || slices.Contains(strings.Fields(names), rest[strings.LastIndexByte(rest, '.')+1:]))
}

// swayingNames are the names of such settings in each section, whatever their
// subsections; "" is all of the section.
func swayingNames() map[string]string {
	return map[string]string{
		"alias": "", "hook": "", "include": "", "includeif": "", "pager": "", "pretty": "", "protocol": "", "url": "",
		"core": "alternaterefscommand askpass bare checkstat editor fsmonitor gitproxy hookspath ignorestat notesref pager " +
			"sparsecheckout sshcommand trustctime untrackedcache usereplacerefs whitespace",
		"blame":       "ignorerevsfile",
		"browser":     "cmd path",
		"credential":  "helper",
		"diff":        "binary command external ignoresubmodules relative textconv trustexitcode",
		"difftool":    "cmd path",
		"format":      "pretty",
		"fsck":        "skiplist",
		"gc":          "recentobjectshook",
		"gpg":         "allowedsignersfile defaultkeycommand program revocationfile",
		"grep":        "extendedregexp patterntype",
		"guitool":     "cmd",
		"http":        "curloptresolve proxy sslcainfo sslcapath sslverify",
		"imap":        "tunnel",
		"init":        "templatedir",
		"interactive": "difffilter",
		"lfs":         "args clean path smudge",
		"log":         "diffmerges excludedecoration follow",
		"man":         "cmd path",
		"merge":       "driver",
		"mergetool":   "cmd path",
		"remote":      "proxy receivepack uploadpack vcs",
		"sendemail":   "cccmd sendmailcmd smtpserver tocmd",
		"sequence":    "editor",
		"sparse":      "expectfilesoutsideofpatterns",
		"status":      "showuntrackedfiles",
		"submodule":   "ignore update",
		"tar":         "command",
		"trailer":     "cmd command",
		"uploadpack":  "packobjectshook",
	}
}

// changedSince returns a sentence about those that are not as they were, "" when all
// are.
func (s sways) changedSince(then sways) string {
	var items []string
	count := make(map[string]int) // by section: many of one do not crowd out the others
	const most = 5
	names := slices.Concat(slices.Collect(maps.Keys(s)), slices.Collect(maps.Keys(then)))
	slices.SortFunc(names, bySection)
	for _, name := range slices.Compact(names) {
		now, is := s[name]
		was, had := then[name]
		if is == had && now.digest == was.digest {
			continue
		}
		section := sectionOf(name)
		if count[section]++; count[section] > most {
			continue
		}
		item := shown.Name(withoutPasswords(name))
		if is {
			item += now.says
		} else {
			item += " (no longer)"
		}
		items = append(items, item)
	}
	for _, section := range slices.Sorted(maps.Keys(count)) {
		if more := count[section] - most; more > 0 {
			items = append(items, fmt.Sprintf("%d more of %s", more, strings.TrimSpace(section)))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return "git may show, or run, something else than it did when the session began: " + strings.Join(items, "; ")
}

// sectionOf returns the section of a setting, or what a name has in common with others
// of its kind.
func sectionOf(name string) string {
	for _, kind := range []string{replacements, theHook} {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	section, _, _ := strings.Cut(name, ".")
	return section
}

// bySection puts settings without a subsection first, in each section.
func bySection(a, b string) int {
	return cmp.Or(strings.Compare(sectionOf(a), sectionOf(b)), strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
}
