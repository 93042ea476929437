package model

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// A Script answers requests. It is called concurrently.
type Script func(Request) Answer

// An Answer is what the model says: a text, then perhaps a tool call. The zero value is an
// empty answer.
type Answer struct {
	Text  string
	Call  *Call
	Fault Fault
	Stop  Stop

	number int64 // makes IDs unique: agents identify tool calls by them
}

func (a Answer) id(kind string) string { return fmt.Sprintf("%s_%d", kind, a.number) }

// A Stop is why a model stopped before it had finished.
type Stop string

// The stops; "" means that the model finished.
const (
	StopLength Stop = "length" // it reached its token limit
	StopFilter Stop = "filter" // the service withheld the rest
)

// said chooses a service's word for the reason why the model stopped.
func (a Answer) said(own, tool, length, filter string) string {
	switch {
	case a.Stop == StopLength:
		return length
	case a.Stop == StopFilter:
		return filter
	case a.Call != nil:
		return tool
	}
	return own
}

// A Fault is what goes wrong instead of, or in the middle of, an answer.
type Fault struct {
	// Status is the HTTP status of an error with Message; 0: none.
	Status  int
	Message string
	Header  http.Header

	// Until is when a limit ends. The service reports it in its own way, with the status
	// 429.
	Until time.Time

	TooLong bool // the prompt exceeds the model's context

	Cut   bool // the connection breaks halfway through the stream
	Event bool // an error comes halfway through the stream; an answer in one piece is whole
	Hang  bool // there is no answer
}

// The token counts of every answer. They differ, so that a report shows which one was
// read.
const (
	InputTokens     = 700 // without those from the cache
	CacheReadTokens = 300
	OutputTokens    = 20 // including reasoning
	ReasoningTokens = 5

	promptTokens = InputTokens + CacheReadTokens
	totalTokens  = promptTokens + OutputTokens
)

// pieces is the number of pieces of a streamed text.
const pieces = 8

// split cuts a text into pieces, between characters.
func split(text string) []string {
	var all []string
	for size := len(text)/pieces + 1; text != ""; {
		cut := min(size, len(text))
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		all = append(all, text[:cut])
		text = text[cut:]
	}
	return all
}
