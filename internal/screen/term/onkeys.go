package term

import "sync"

// OnKeys hands each key that is pressed over, until the returned function is called. Stops is as
// for [Streams.ReadKeys].
func (s *Streams) OnKeys(press func(key string), stops func() (goesOn func())) (end func()) {
	keys, ok := s.ReadKeys(stops)
	if !ok {
		return func() {}
	}
	over := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case key, more := <-keys.Pressed():
				if !more {
					return
				}
				press(key)
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		done.Wait()
		keys.Close()
	}
}
