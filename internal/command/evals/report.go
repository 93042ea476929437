package evals

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"codeloops/internal/command"
	"codeloops/internal/eval"
	"codeloops/internal/file"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/wording/hint"
)

func newReportCmd(l *command.Logs) *cobra.Command {
	o := &reportOptions{}
	cmd := &cobra.Command{
		Use:         "report [SESSION…]",
		Annotations: command.Exits("the report was printed", ""),
		Short:       "Print what is known of all critics that have judged",
		Long: `Print how often each critic was right that has judged recorded iterations, on those
of this repository or of some sessions. It reads no log: what came later is known
as of the last ` + "`codeloops eval judge`" + `, and what you have said, as of now.`,
		Example: `  codeloops eval report
  codeloops eval report --truth labels --markdown`,
		ValidArgsFunction: l.Complete,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			return withBook(l, args, func(b *eval.Book, some, _ []session.Overview) error {
				ids := map[string]bool{}
				for _, one := range some {
					ids[one.ID] = true
				}
				cases := b.Cases(ids)
				if len(cases) == 0 {
					return hint.Errorf("codeloops eval judge looks for them", "there are no cases of these sessions yet")
				}
				return o.print(l.Console, eval.NewReport(b, cases, b.Critics(cases), o.truth))
			})
		},
	}
	o.add(cmd.Flags())
	return cmd
}

// print prints what is known of critics.
func (o *reportOptions) print(c *command.Console, r eval.Report) error {
	if o.html != "" {
		r.Attach()
	}
	return o.show(c, r, "Does the critic pay?", r.Tables())
}

// show prints a report, in the form that was asked for.
func (o *reportOptions) show(c *command.Console, r any, title string, tables []eval.Table) error {
	if o.html != "" {
		write := func(w io.Writer) error {
			clean := c.Secrets.Writer(w)
			return errors.Join(eval.HTML(clean, title, tables), clean.Close())
		}
		if err := file.Replace(c.Path(o.html), 0o600, write); err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
	}
	if o.asJSON {
		return c.JSON(r)
	}
	var b strings.Builder
	write := eval.Text
	if o.markdown {
		write = eval.Markdown
	}
	if err := write(&b, tables); err != nil {
		return err
	}
	return c.Print(func(w io.Writer) error {
		_, err := io.WriteString(w, term.Clean(b.String()))
		return err
	})
}
