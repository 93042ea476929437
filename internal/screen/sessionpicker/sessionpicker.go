// Package sessionpicker lets the user choose a session from a list.
package sessionpicker

import (
	"context"
	"os"
	"sync"

	"codeloops/internal/config/host"
	"codeloops/internal/loop/progress"
	"codeloops/internal/screen/picker"
	"codeloops/internal/screen/term"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// Choose lets the user choose one of some sessions; a single one needs no
// choice. The error is [picker.ErrCancelled] when the user leaves.
func Choose(ctx context.Context, s *term.Streams, h *host.Host, some []session.Overview, what string) (session.Overview, error) {
	if len(some) == 1 {
		return some[0], nil
	}
	zone := h.Now().Location()
	screen := sessionview.Screen{Style: s.ErrRenderer()}
	var steps sync.Map // of those that were looked at
	list := picker.List{
		Count:  len(some),
		Search: func(i int) string { return sessionview.Haystack(some[i]) },
		Line:   func(i, width int) string { return screen.Wide(width).PickLine(some[i], zone) },
		Preview: func(i, width int) []string {
			known, _ := steps.Load(i)
			read, _ := known.([]progress.Iteration)
			return screen.Wide(width).Preview(some[i], read, zone)
		},
		Load: func(ctx context.Context, i int) {
			if _, known := steps.Load(i); known {
				return
			}
			// What cannot be read is not shown here.
			if read, _ := sessionview.ReadIterations(ctx, some[i].Path); read != nil {
				steps.Store(i, read)
			}
		},
	}
	in, _ := s.In.(*os.File) // a terminal: there is somebody to ask
	at, err := picker.Pick(ctx, list, picker.Options{In: in, Out: s.Err, Jobs: &s.Jobs, Style: screen.Style, Title: what})
	if err != nil {
		return session.Overview{}, err
	}
	return some[at], nil
}
