//go:build !linux && !darwin

package term

// Keys reads single keys from a terminal; here it cannot.
type Keys struct{}

// ReadKeys reports that keys cannot be read here.
func (*Streams) ReadKeys(func() func()) (*Keys, bool) { return nil, false }

// Pressed returns the channel of the keys.
func (k *Keys) Pressed() <-chan string { return nil }

// Close does nothing.
func (k *Keys) Close() {}
