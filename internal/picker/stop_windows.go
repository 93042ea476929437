package picker

import tea "charm.land/bubbletea/v2"

// A stopper has nothing to do here: there is no Ctrl+Z.
type stopper struct{}

func (*stopper) serve(*tea.Program) (end func()) { return func() {} }

func (*stopper) stop() tea.Msg { return nil }
