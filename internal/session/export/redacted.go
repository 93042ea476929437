package export

import (
	"codeloops/internal/redact"
	"codeloops/internal/session"
	"codeloops/internal/session/sessionview"
)

// Redacted replaces the values of secrets in the lines of a log.
func Redacted(entries sessionview.Entries, secrets *redact.Redactor) sessionview.Entries {
	return func(yield func(session.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				entry.Event = secrets.Event(entry.Event)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// RedactedOverview replaces the values of secrets in what an overview says.
func RedactedOverview(one session.Overview, secrets *redact.Redactor) session.Overview {
	for _, text := range []*string{&one.Session.Prompt, &one.Session.WorkingDir} {
		*text = secrets.String(*text)
	}
	if one.Outcome != nil {
		end := *one.Outcome
		end.Summary, end.ActorError = secrets.String(end.Summary), secrets.String(end.ActorError)
		one.Outcome = &end
	}
	return one
}
