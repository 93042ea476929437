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

	"codeloops/internal/wording"
)

// overrides are settings, hooks, replaced objects and marks in the index that make git show or
// run something else than it would by default, and so can deceive whoever looks at the work
// through git. Looks do not obey them. The names tell a person where to look.
type overrides struct {
	digests
	says byName[string] // the value of each, as the end of a sentence
}

// skipped is the name of the mark of files that a sparse checkout leaves out.
const skipped = "skip-worktree"

func (o overrides) add(name, digest, says string) {
	o.digests[name], o.says[name] = digest, says
}

// overridesOf returns the overrides after a look.
func (w *watcher) overridesOf() overrides {
	all, r := overrides{digests{}, byName[string]{}}, w.opened
	for _, e := range r.Entries() {
		if _, known := all.digests[e.Key]; !known && Overrides(e.Key) {
			values := r.All(e.Key)
			all.add(e.Key, digest(fmt.Sprintf("%q", values)), " = "+quoted(values))
		}
	}
	w.addHooks(all, r)
	for name, id := range w.refs {
		if strings.HasPrefix(name, replacements) {
			all.add(name, digest(id), ", which is shown as "+wording.Name(id))
		}
	}
	for _, name := range []string{"info/grafts", "shallow", "info/sparse-checkout"} {
		path := filepath.Join(r.CommonDir, filepath.FromSlash(name))
		addFile(all.digests, w.nameOf(path), path)
	}
	for name, m := range map[string]marks{"assume-unchanged": w.tracked.assumed, skipped: w.tracked.skipped} {
		if m.digest != "" {
			all.add(name, m.digest, " is set for "+m.some)
		}
	}
	if w.elsewhere != "" {
		all.add("the repository that git finds", digest(w.elsewhere), " is "+wording.Name(w.elsewhere))
	}
	return all
}

const theHook = "the hook "

func (p *place) addHooks(all overrides, r opened) {
	dir, set, err := r.Path("core.hooksPath")
	switch {
	case err != nil || !set:
		dir = filepath.Join(r.CommonDir, "hooks")
	case !filepath.IsAbs(dir):
		dir = filepath.Join(r.WorkTree, dir)
	}
	for name := range strings.FieldsSeq(hooks) {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && runs(info) {
			all.add(theHook+p.nameOf(path), digest(digestOf(path)), "")
		}
	}
}

// hooks are the names of hooks that git runs, by githooks(5).
const hooks = `applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
	post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive
	post-update reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate
	fsmonitor-watchman query-watchman p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change`

// runs reports whether git would run a hook. On Windows it runs any.
func runs(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 || filepath.Separator == '\\' }

// quoted quotes the values of a setting, without passwords in URLs.
func quoted(values []string) string {
	const most, long = 3, 200
	var texts []string
	for _, v := range values {
		text := []rune(withoutPasswords(v))
		if len(text) > long {
			text = append(text[:long], '…')
		}
		texts = append(texts, strconv.Quote(string(text)))
	}
	return wording.List(texts, most)
}

// withoutPasswords removes the user names and passwords of URLs.
func withoutPasswords(text string) string {
	return regexp.MustCompile(`://[^/@\s]*@`).ReplaceAllString(text, "://…@")
}

// Overrides reports whether a setting can make git show or run something else than by default.
// Settings that git writes in daily work cannot (user, branch, remote.*.url, ...).
func Overrides(key string) bool {
	section, rest, _ := strings.Cut(key, ".")
	names, known := swayingNames()[section]
	return known && (names == "" || slices.Contains(strings.Fields(names), rest[strings.LastIndexByte(rest, '.')+1:]))
}

// swayingNames are the names of such settings in each section, in any subsection; "" is the whole
// section.
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

// changedSince returns a sentence about those that have changed, or "".
func (o overrides) changedSince(then digests) string {
	var items []string
	count := make(map[string]int) // by section, so that many of one do not crowd out the others
	const most = 5
	names := differing(o.digests, then)
	slices.SortStableFunc(names, func(a, b string) int { // settings without a subsection first, in each section
		return cmp.Or(strings.Compare(sectionOf(a), sectionOf(b)), strings.Count(a, ".")-strings.Count(b, "."))
	})
	for _, name := range names {
		section := sectionOf(name)
		if count[section]++; count[section] > most {
			continue
		}
		says := o.says[name]
		if o.digests[name] == "" {
			says = " (no longer)"
		}
		items = append(items, wording.Name(withoutPasswords(name))+says)
	}
	for _, section := range slices.Sorted(maps.Keys(count)) {
		if more := count[section] - most; more > 0 {
			items = append(items, fmt.Sprintf("%d more of %s", more, strings.TrimSpace(section)))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return "git may show or run something different from when the session began: " + strings.Join(items, "; ")
}

// sectionOf returns the section of a setting, or the kind of another override.
func sectionOf(name string) string {
	for _, kind := range []string{replacements, theHook} {
		if strings.HasPrefix(name, kind) {
			return kind
		}
	}
	section, _, _ := strings.Cut(name, ".")
	return section
}
