package mcpserver

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"codeloops/internal/loop"
	"codeloops/internal/session"
	"codeloops/internal/session/lookup"
	"codeloops/internal/session/standing"
	"codeloops/internal/wording/hint"
)

func (s *server) addSessions(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "sessions", Annotations: looks("List sessions"),
		Description: "List the sessions of this repository, the newest first.",
	}, func(_ context.Context, c *call, in listInput) (sessionList, error) { return c.list(in) })
	add(s, m, &mcp.Tool{
		Name: "session_show", Annotations: looks("Show a session"),
		Description: "Show a session: its task, what each iteration changed and what the critic said to it, and its end.",
	}, func(ctx context.Context, c *call, in sessionInput) (shown, error) { return c.show(ctx, in) })
	add(s, m, &mcp.Tool{
		Name: "session_diff", Annotations: looks("Show the change of a session"),
		Description: "Show what a session has changed, as a patch for git apply.",
	}, func(ctx context.Context, c *call, in diffInput) (change, error) { return c.diff(ctx, in) })
	for _, r := range []mcp.ResourceTemplate{
		{Name: "log", URITemplate: resources + "{id}/log", MIMEType: "application/jsonl", Description: "everything that happened in a session, one JSON object a line"},
		{Name: "diff", URITemplate: resources + "{id}/diff", MIMEType: "text/x-diff", Description: "all of a session's change"},
	} {
		m.AddResourceTemplate(&r, s.read)
	}
}

// find returns a session of this repository: those of others are none of the client's business, nor are files.
func (c *call) find(ref string) (session.Overview, error) {
	if strings.ContainsAny(ref, `/\`) || filepath.Ext(ref) == ".jsonl" || strings.HasPrefix(ref, "-") {
		return session.Overview{}, hint.Errorf("the tool sessions lists those of this repository", "%q is not the id of a session", ref)
	}
	one, err := c.Logs().Find(ref)
	if err == nil && !c.here.Shares(one) {
		err = hint.Errorf("the tool sessions lists those of this repository", "session %s belongs to another repository", one.ID)
	}
	return one, err
}

type listInput struct {
	place

	Limit   int    `json:"limit,omitempty" jsonschema:"at most this many; default: 20"`
	Outcome string `json:"outcome,omitempty" jsonschema:"only sessions that ended so, such as success or failed; or running"`
	Search  string `json:"search,omitempty" jsonschema:"only sessions with this text in their task or id"`
}

type sessionList struct {
	Sessions []entry `json:"sessions"`
}

// An entry is a session in a list.
type entry struct {
	Session    string    `json:"session" jsonschema:"its id"`
	Outcome    string    `json:"outcome"`
	StopReason string    `json:"stop_reason,omitempty"`
	Task       string    `json:"task" jsonschema:"its first line"`
	Started    time.Time `json:"started"`
	Seconds    float64   `json:"duration_secs"`
	Actor      string    `json:"actor_agent"`
	Critic     string    `json:"critic_agent"`
	WorkingDir string    `json:"working_dir"`
	Summary    string    `json:"summary,omitempty"`
}

func entryOf(one session.Overview) entry {
	e := entry{
		Session: one.ID, Outcome: string(one.Status), Task: standing.Title(one.Session.Prompt), Started: one.Started,
		Seconds: one.Duration.Seconds(), Actor: one.Session.Actor.Agent, Critic: one.Session.Critic.Agent, WorkingDir: one.Session.WorkingDir,
	}
	if o := one.Outcome; o != nil {
		e.StopReason, e.Summary = string(o.Reason), o.Summary
	}
	return e
}

func (c *call) list(in listInput) (sessionList, error) {
	list := sessionList{Sessions: []entry{}}
	pick, err := lookup.Filter{Outcome: in.Outcome, Search: in.Search}.Query(&c.Host)
	if err != nil {
		return list, err
	}
	all, err := c.Logs().Survey()
	if err != nil {
		return list, err
	}
	most := 20
	if in.Limit > 0 {
		most = in.Limit
	}
	for _, one := range pick(all) {
		if len(list.Sessions) == most {
			break
		}
		if one.Err == nil && c.here.Shares(one) {
			list.Sessions = append(list.Sessions, entryOf(one))
		}
	}
	return list, nil
}

type sessionInput struct {
	place

	Session string `json:"session,omitempty" jsonschema:"id of the session; default: the latest in this work tree"`
}

// A shown is a session with its iterations.
type shown struct {
	progress

	Prompt     string  `json:"prompt"`
	Rounds     []round `json:"rounds" jsonschema:"the iterations that have finished"`
	WorkingDir string  `json:"working_dir"`
}

// A round is an iteration.
type round struct {
	Iteration  int      `json:"iteration"`
	Actor      string   `json:"actor,omitempty" jsonschema:"the end of what the actor said"`
	Files      int      `json:"files_changed" jsonschema:"since the session began"`
	Insertions int      `json:"insertions"`
	Deletions  int      `json:"deletions"`
	Failed     []string `json:"failed_checks,omitempty"`
	Decision   string   `json:"decision"`
	Text       string   `json:"critic" jsonschema:"what the critic said"`
}

// mostSaid is how much of an actor's words is shown, in bytes.
const mostSaid = 2 << 10

func (c *call) show(ctx context.Context, in sessionInput) (shown, error) {
	one, err := c.find(in.Session)
	if err != nil {
		return shown{}, err
	}
	s := shown{progress: c.progress(ctx, one), Prompt: one.Session.Prompt, WorkingDir: one.Session.WorkingDir, Rounds: []round{}}
	for r := range rounds(session.Read(one.Path)) {
		shape := r.Change.Shape()
		said := r.Attempt.Stdout.Text
		said = strings.ToValidUTF8(said[max(0, len(said)-mostSaid):], "")
		next := round{
			Iteration: r.Iteration, Actor: strings.TrimSpace(said), Files: shape.Files, Insertions: shape.Insertions, Deletions: shape.Deletions,
			Decision: string(r.Verdict.Decision), Text: r.Verdict.Guidance(),
		}
		for _, check := range r.Checks {
			if !check.Passed() {
				next.Failed = append(next.Failed, check.Command)
			}
		}
		s.Rounds = append(s.Rounds, next)
	}
	return s, nil
}

// rounds yields the finished iterations in a log.
func rounds(log iter.Seq2[session.Entry, error]) iter.Seq[loop.Round] {
	return func(yield func(loop.Round) bool) {
		for entry, err := range log {
			if over, ok := entry.Event.(loop.IterationFinished); ok && err == nil && !yield(over.Round) {
				return
			}
		}
	}
}

type diffInput struct {
	sessionInput

	Iteration int `json:"iteration,omitempty" jsonschema:"only what this iteration changed"`
}

// A change is the diff of a session.
type change struct {
	Session string `json:"session"`
	Diff    string `json:"diff"`
	Partial bool   `json:"partial,omitempty" jsonschema:"the diff is longer; the resource has all of it"`
	Bytes   int    `json:"bytes" jsonschema:"of the whole diff"`
	All     string `json:"resource" jsonschema:"URI of the whole diff"`
}

// mostDiff is how much of a diff is in a result, in bytes: more than that, an agent does not read.
const mostDiff = 100 << 10

func (c *call) diff(ctx context.Context, in diffInput) (change, error) {
	one, err := c.find(in.Session)
	if err != nil {
		return change{}, err
	}
	patch, err := c.patch(ctx, one, in.Iteration)
	if err != nil {
		return change{}, err
	}
	d := change{Session: one.ID, Diff: patch, Bytes: len(patch), All: resources + one.ID + "/diff"}
	if len(patch) > mostDiff {
		d.Partial, d.Diff = true, patch[:strings.LastIndexByte(patch[:mostDiff], '\n')+1]
	}
	d.Diff = strings.ToValidUTF8(d.Diff, "\uFFFD")
	return d, nil
}

// patch returns the change of a session; for one that runs, as its work tree is now.
func (c *call) patch(ctx context.Context, one session.Overview, iteration int) (string, error) {
	if run, _, err := c.run(one.ID); err == nil && iteration == 0 {
		if patch, err := run.Diff(ctx); err == nil {
			return patch, nil
		}
	}
	args := []string{"sessions", "diff"}
	if iteration != 0 {
		args = append(args, fmt.Sprintf("--iteration=%d", iteration))
	}
	out, err := c.codeloops().Output(ctx, "", append(args, "--", one.ID)...)
	return string(out), err
}

// resources is what the URIs of sessions begin with.
const resources = "codeloops://session/"

// read reads a resource.
func (s *server) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	id, kind, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, resources), "/")
	roots, question, err := s.roots(req.Session, req.Params.InputResponses)
	if question != nil {
		return &mcp.ReadResourceResult{InputRequests: question}, nil
	}
	var c *call
	var one session.Overview
	if err == nil {
		c, err = s.at(roots, "")
	}
	if err == nil {
		one, err = c.find(id)
	}
	if err != nil {
		return nil, s.sentence(err)
	}
	text, mime := "", "text/x-diff"
	if kind == "log" {
		var all []byte
		all, err = os.ReadFile(one.Path)
		text, mime = string(all), "application/jsonl"
	} else {
		text, err = c.patch(ctx, one, 0)
	}
	if err != nil {
		return nil, s.sentence(err)
	}
	text = c.Secrets.String(text)
	content := &mcp.ResourceContents{URI: req.Params.URI, MIMEType: mime, Text: text}
	if text == "" || !utf8.ValidString(text) { // the library leaves out an empty text, which clients miss
		content.Text, content.Blob = "", []byte(text)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{content}}, nil
}
