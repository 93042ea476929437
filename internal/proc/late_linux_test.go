package proc

import (
	"os"
	"testing"
)

// TestLateKill: a command that is told to end when it is over already, as when its last output was too much, does not
// end the next command of its keeper.
func TestLateKill(t *testing.T) {
	t.Parallel()
	users := newHost() // prepares this process
	defer users.close()
	h := &host{idle: map[bool][]*remote{}} // its keepers are no other test's
	defer func() {
		for _, k := range h.idle[false] {
			k.close()
		}
	}()
	start := func(script string) (*child, *streams) {
		sp, err := resolve(Invocation{Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Env: os.Environ()})
		if err == nil {
			sp.io, err = openStreams(Command{Limits: Limits{Keep: 1}})
		}
		var c *child
		if err == nil {
			c, err = h.start(sp)
		}
		if err != nil {
			t.Fatal(err)
		}
		return c, sp.io
	}
	end := func(c *child, io *streams) report {
		select {
		case <-c.exited:
			c.sweep()
		case r := <-c.ended:
			c.ended <- r
		}
		r := <-c.ended
		c.leader.close()
		io.close()
		return r
	}
	first, io := start("exit 0")
	end(first, io)
	next, io := start("sleep 0.05; exit 7")
	if first.keeper != next.keeper {
		t.Error("the second command has a keeper of its own")
	}
	first.kill()
	if r := end(next, io); r.ExitCode != 7 {
		t.Errorf("%+v", r)
	}
}
