package sessions

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/forge"
	"codeloops/internal/wording/hint"
)

func newPrFeedbackCmd(r *Restorer) *cobra.Command {
	var o struct {
		remote string
		from   []string
		asJSON bool
	}
	cmd := &cobra.Command{
		Use:         "feedback [NUMBER]",
		Annotations: command.Exits("there is something to do, and it was printed", "there is nothing to do"),
		Short:       "Print what reviewers and checks want changed, as a prompt",
		Long: `Print what was said about a pull request since its last commit, and which checks have
failed, as the prompt of the next run. Without a number it is the open request of the
branch that is checked out.

Only those count who may write to the repository. What others have said is counted, and
not printed. Checks that are not over are told on standard error.`,
		Example: `  codeloops pr feedback > task.md && codeloops --prompt-file task.md --pr
  codeloops pr feedback 12 --from alice`,
		PreRunE: r.UsersCommand,
		Args: func(cmd *cobra.Command, args []string) error {
			if n, err := strconv.Atoi(command.First(args)); len(args) > 1 || len(args) == 1 && (err != nil || n < 1) {
				return hint.Errorf("name it by its number, as in 12", "%s takes the number of one request, not %q", cmd.CommandPath(), strings.Join(args, " "))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := forge.Find(cmd.Context(), &r.Host, r.Dir, o.remote, nil)
			if err != nil {
				return err
			}
			f, err := r.feedback(cmd.Context(), t, command.First(args), o.from)
			if err != nil {
				return err
			}
			for _, sentence := range f.Told() {
				r.Tell(sentence)
			}
			if o.asJSON {
				err = r.JSON(f)
			} else if !f.Empty() {
				err = r.Print(func(w io.Writer) error { _, err := io.WriteString(w, f.Prompt()); return err })
			}
			if err == nil && f.Empty() {
				r.Tell(fmt.Sprintf("nothing is to be done: nobody who counts has said anything about %s since its last commit, and no check has failed", f.Request.URL))
				return command.ErrShort
			}
			return err
		},
	}
	cmd.Flags().StringArrayVar(&o.from, "from", nil, "take only what `NAME` says, whatever their rights; may be repeated")
	cmd.Flags().StringVar(&o.remote, "remote", "", "the `name` of the git remote (default: origin, or the only one)")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print it as JSON: request, remarks, checks, strangers")
	return cmd
}

// feedback finds the request, and what was said about it.
func (r *Restorer) feedback(ctx context.Context, t *forge.Target, number string, from []string) (f forge.Feedback, err error) {
	var q forge.Request
	if n, e := strconv.Atoi(number); e == nil {
		if q, err = t.Server.Get(ctx, n); err != nil {
			return f, err
		}
		if q.State != forge.Open {
			return f, hint.Errorf("reopen it first, if it is to go on", "%s was %s", q.URL, q.State)
		}
		return t.Feedback(ctx, q, from)
	}
	branch := r.checkedOut(r.Dir)
	if branch == "" {
		return f, hint.Errorf("name the request: codeloops pr feedback NUMBER", "no branch is checked out")
	}
	if q, err = t.Standing(ctx, branch); err != nil {
		return f, err
	}
	if q.Number == 0 {
		return f, hint.Errorf("name the request: codeloops pr feedback NUMBER", "there is no %s from the branch %s", t.Place.Kind.Noun(), branch)
	}
	return t.Feedback(ctx, q, from)
}
