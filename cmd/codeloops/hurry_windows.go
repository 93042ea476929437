package main

// hurry has no signal to listen to on Windows.
func (s *signals) hurry() <-chan struct{} { return nil }
