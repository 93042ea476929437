package redact

import (
	"errors"
	"io/fs"
	"slices"

	"codeloops/internal/loop"
)

// Sink returns a sink that redacts events and passes them on to next. It redacts every free
// text, but not the fixed words, ids, versions and hashes of codeloops itself. It does not modify
// the events that it receives. The end of an [loop.Activity] that may be the beginning of a secret
// is passed on later, with the same stamp.
func (r *Redactor) Sink(next loop.Sink) loop.Sink { return r.sink(next, false) }

// Recording is Sink for a run that is under way: it also redacts the files that its outputs name.
// Those that a log names may be anybody's.
func (r *Redactor) Recording(next loop.Sink) loop.Sink { return r.sink(next, true) }

func (r *Redactor) sink(next loop.Sink, records bool) loop.Sink {
	if r.matcher == nil {
		return next
	}
	return &sink{Redactor: r, next: next, records: records}
}

type sink struct {
	*Redactor
	next    loop.Sink
	records bool
	voices  []*voice // in the order in which they were first heard
}

// A voice is one stream of activity.
type voice struct {
	at     loop.Stamp
	last   loop.Activity
	stream stream
}

func (s *sink) Handle(at loop.Stamp, e loop.Event) error {
	said, says := e.(loop.Activity)
	if says && said.Stream != "" {
		return s.hear(at, said)
	}
	// Warnings and activity may interrupt the output of an agent.
	if _, aside := e.(loop.Warned); !aside && !says {
		if err := s.silence(at.Step); err != nil {
			return err
		}
	}
	clean, files := s.clean(e)
	// The files of an iteration were redacted with its earlier events.
	if _, again := e.(loop.IterationFinished); s.records && !again {
		if err := s.files(files); err != nil {
			return err
		}
	}
	return s.next.Handle(at, clean)
}

// hear takes the next piece of an output.
func (s *sink) hear(at loop.Stamp, a loop.Activity) error {
	v, text := s.voice(at.Step, a), a.Text
	a.Text = ""
	clean, _ := s.clean(a)
	v.at, v.last = at, clean.(loop.Activity)
	return s.say(v, v.stream.next(text))
}

// silence passes on what is held back of every voice in a step; parallel turns continue.
func (s *sink) silence(step loop.Step) error {
	var voices []*voice
	s.voices = slices.DeleteFunc(s.voices, func(v *voice) bool {
		over := v.at.Step.In(step)
		if over {
			voices = append(voices, v)
		}
		return over
	})
	for _, v := range voices {
		if err := s.say(v, v.stream.rest()); err != nil {
			return err
		}
	}
	return nil
}

// voice returns the voice of one output of one turn, as several turns may run in parallel.
func (s *sink) voice(step loop.Step, a loop.Activity) *voice {
	for _, v := range s.voices {
		if v.at.Step == step && v.last.Iteration == a.Iteration && v.last.Role == a.Role && v.last.Stream == a.Stream {
			return v
		}
	}
	v := &voice{stream: stream{matcher: s.matcher}}
	s.voices = append(s.voices, v)
	return v
}

func (s *sink) say(v *voice, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	v.last.Text = string(text)
	return s.next.Handle(v.at, v.last)
}

// files redacts the files of outputs. One that is gone holds no secret.
func (s *sink) files(paths []string) error {
	for _, path := range paths {
		if err := s.File(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
