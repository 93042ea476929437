// Package forge opens and updates requests to take a branch: pull requests on GitHub and on servers of GitHub
// Enterprise, merge requests on GitLab. It speaks their REST APIs, and has git push to them.
//
// A repository's configuration names a remote, and an agent may have written it. So a token from the environment is sent
// only to the server that it belongs to, and git pushes with the settings of the user and the system alone: no hook,
// no credential helper and no command of the repository's runs.
package forge

import (
	"cmp"
	"net/url"
	"strings"

	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// A Kind is a kind of server.
type Kind string

// The kinds.
const (
	GitHub Kind = "GitHub"
	GitLab Kind = "GitLab"
)

// Noun is what the server calls a request.
func (k Kind) Noun() string {
	if k == GitLab {
		return "merge request"
	}
	return "pull request"
}

// A Place is a repository on a server.
type Place struct {
	Kind   Kind
	Scheme string // of the server's pages and of git: https, or http in a closed network
	Host   string // with a port, if it is not the usual one
	Path   string // owner/name, on GitLab with all groups
	Git    string // the address that git pushes to
	API    string // the address of the API, without a slash at its end
}

// String names the repository for people.
func (p Place) String() string { return p.Host + "/" + p.Path }

// At returns the repository that git's address of a remote stands for. getenv looks up an environment variable: those of
// CI systems, GH_HOST and GITLAB_HOST say which servers there are besides github.com and gitlab.com.
func At(address string, getenv func(string) string) (Place, error) {
	p := Place{Git: address, Scheme: "https"}
	u, err := url.Parse(address)
	switch {
	case err == nil && (u.Scheme == "https" || u.Scheme == "http"):
		p.Scheme, p.Host, p.Path = u.Scheme, u.Host, u.Path
	case err == nil && u.Scheme == "ssh":
		p.Host, p.Path = u.Hostname(), u.Path // the port is that of SSH
	default:
		who, path, ok := strings.Cut(address, ":") // git@host:path
		if _, p.Host, _ = strings.Cut(who, "@"); !ok || strings.ContainsAny(who, `/\`) || strings.HasPrefix(path, "//") {
			p.Host = ""
		}
		p.Path = path
	}
	p.Host = strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(p.Host, "ssh."), "altssh.")) // their SSH through port 443
	p.Path = strings.TrimSuffix(strings.Trim(p.Path, "/"), ".git")
	if p.Host == "" || !strings.Contains(p.Path, "/") {
		return p, hint.Errorf("git remote -v lists them; name another one: --remote NAME",
			"%s is no repository on GitHub or GitLab", wording.Quote(withoutPassword(address), 200))
	}
	p.Kind, p.API = known(p, getenv)
	if p.Kind == "" {
		return p, hint.Errorf("if it is a GitHub Enterprise server, set GH_HOST="+p.Host+"; if it is a GitLab, set GITLAB_HOST="+p.Host,
			"it is not known what kind of server %s is", p.Host)
	}
	return p, nil
}

// known returns the kind of a server, and its API.
func known(p Place, getenv func(string) string) (k Kind, api string) {
	actions, _ := url.Parse(getenv("GITHUB_SERVER_URL"))
	lab, _ := url.Parse(getenv("CI_SERVER_URL"))
	own := p.Scheme + "://" + p.Host
	switch {
	case actions != nil && actions.Host == p.Host && getenv("GITHUB_API_URL") != "":
		return GitHub, strings.TrimSuffix(getenv("GITHUB_API_URL"), "/")
	case lab != nil && lab.Host == p.Host && getenv("CI_API_V4_URL") != "":
		return GitLab, strings.TrimSuffix(getenv("CI_API_V4_URL"), "/")
	case p.Host == "github.com" || strings.HasSuffix(p.Host, ".ghe.com"):
		return GitHub, "https://api." + p.Host
	case p.Host == hostOf(getenv("GH_HOST")):
		return GitHub, own + "/api/v3"
	case p.Host == "gitlab.com" || p.Host == hostOf(getenv("GITLAB_HOST")):
		return GitLab, own + "/api/v4"
	}
	return "", ""
}

// hostOf returns the host of a variable that holds it, or an address.
func hostOf(value string) string {
	if u, err := url.Parse(value); err == nil && u.Host != "" {
		return u.Host
	}
	return strings.ToLower(strings.Trim(value, "/"))
}

func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil {
		return cmp.Or(u.Redacted(), address)
	}
	return address
}
