package signals

// Hurry has no signal to listen to on Windows.
func (s *Signals) Hurry(func()) (stop func()) { return func() {} }
