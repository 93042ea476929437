package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

// latestRelease is where the newest release is named, unless the variable CODELOOPS_RELEASES names another place.
const latestRelease = "https://api.github.com/repos/OWNER/codeloops/releases/latest"

// A version is what the program says about itself.
type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Schema  int    `json:"schema_version"` // of session logs
	*newest
}

// newest is the newest release, and whether it is newer than the program.
type newest struct {
	Latest string `json:"latest"`
	Newer  bool   `json:"newer"`
	URL    string `json:"url,omitempty"`
}

func newVersionCmd(a *app) *cobra.Command {
	var asJSON, check bool
	cmd := &cobra.Command{
		Use:         "version",
		Annotations: command.Exits("the version was printed", "with --check: there is a newer release"),
		Example: `  codeloops version
  codeloops version --check`,
		Short: "Print the version",
		Long: `Print the version. With --check it also asks for the newest release, where this
program comes from or at the address in CODELOOPS_RELEASES; nothing else ever does.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			v := about()
			if check {
				if v.newest, err = newestAt(cmd.Context(), cmp.Or(a.Getenv("CODELOOPS_RELEASES"), latestRelease), v.Version); err != nil {
					return hint.Add(fmt.Errorf("ask for the newest release: %w", err), "is the network there?")
				}
			}
			if err := v.print(a, asJSON); err != nil || !check || !v.Newer {
				return err
			}
			return command.ErrShort
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print it as JSON")
	cmd.Flags().BoolVar(&check, "check", false, "ask whether there is a newer release")
	return cmd
}

func about() version {
	v := version{Version: command.Version(), Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: session.SchemaVersion}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				v.Commit = s.Value
			}
		}
	}
	return v
}

func (v version) print(a *app, asJSON bool) error {
	if asJSON {
		return a.JSON(v)
	}
	_, err := fmt.Fprintf(a.Out, "codeloops %s (%s, %s/%s)\n", v.Version, v.Go, v.OS, v.Arch)
	if v.newest == nil || err != nil {
		return err
	}
	said := "this is the newest release"
	switch {
	case v.Newer:
		said = fmt.Sprintf("there is a newer release, %s: %s", v.Latest, v.URL)
	case v.Latest != v.Version:
		said = "this is no release; the newest one is " + v.Latest
	}
	_, err = fmt.Fprintln(a.Out, said)
	return err
}

// newestAt asks for the newest release. It says nothing about who asks.
func newestAt(ctx context.Context, address, have string) (*newest, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "codeloops")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // only read
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers with %s", res.Status)
	}
	var release struct {
		Tag string `json:"tag_name"`
		URL string `json:"html_url"`
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&release); err != nil {
		return nil, err
	}
	latest, ok := numbers(release.Tag)
	if !ok {
		return nil, errors.New("the server names no release")
	}
	n := &newest{Latest: term.Line(release.Tag), URL: term.Line(release.URL)}
	if mine, ok := numbers(have); ok {
		for i := range latest {
			if latest[i] != mine[i] {
				n.Newer = latest[i] > mine[i]
				break
			}
		}
	}
	return n, nil
}

// numbers reads the version of a release; ok is false for anything else.
func numbers(text string) (all [3]int, ok bool) {
	parts := strings.Split(strings.TrimPrefix(text, "v"), ".")
	if len(parts) != len(all) || !strings.HasPrefix(text, "v") {
		return all, false
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return all, false
		}
		all[i] = int(n)
	}
	return all, true
}
