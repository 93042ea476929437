package signals

// Hurry does nothing: Windows has no such signal.
func (s *Signals) Hurry(func()) (stop func()) { return func() {} }
