package agent

import (
	"bytes"
	"io"
	"os"

	"codeloops/internal/loop"
	"codeloops/internal/proc"
)

// maxTail bounds the final text of an output that is not kept whole, in
// bytes. A verdict stands at the end, and none is that long.
const maxTail = 256 << 10

// turn puts a result into the loop's words.
func turn(res proc.Result) loop.Turn {
	t := loop.Turn{
		Stdout: output(res.Stdout), Stderr: output(res.Stderr),
		ExitCode: res.ExitCode, Ending: ending(res), Duration: res.Duration,
	}
	for _, p := range res.Leftovers {
		t.Leftovers = append(t.Leftovers, loop.Process{PID: p.PID, Command: p.Command})
	}
	return t
}

func output(c proc.Captured) loop.Output {
	o := loop.Output{Text: string(c.Text), Total: c.Total, Omitted: c.Omitted}
	if c.Omitted > 0 {
		o.File = c.File
	}
	return o
}

func ending(res proc.Result) loop.Ending {
	switch res.Stop {
	case proc.StopTimeout:
		return loop.EndTimedOut
	case proc.StopIdle:
		return loop.EndIdle
	case proc.StopOutputLimit:
		return loop.EndOutputLimit
	case proc.StopCancelled:
		return loop.EndInterrupted
	case proc.StopNone:
	}
	if res.ExitCode == 0 {
		return loop.EndCompleted
	}
	return loop.EndFailed
}

// finalText finds the agent's own last words in what it printed.
func finalText(format Format, res proc.Result) string {
	switch format {
	case Text:
		return string(end(res.Stdout))
	}
	return ""
}

// end returns a whole stream, or whole lines from its end when the middle was
// left out: head and tail together could read as something nobody said.
func end(c proc.Captured) []byte {
	if c.Omitted == 0 {
		return c.Text
	}
	tail, err := readTail(c.File)
	if err != nil {
		return c.Text
	}
	if int64(len(tail)) < c.Total {
		if i := bytes.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
	}
	return tail
}

func readTail(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, max(0, size-maxTail), maxTail))
}
