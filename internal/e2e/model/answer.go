package model

import (
	"fmt"
	"net/http"
	"time"
	"unicode/utf8"
)

// A Script answers requests. It is called concurrently.
type Script func(Request) Answer

// An Answer is what the model says: words, then perhaps the use of a tool. The
// zero Answer is an empty one.
type Answer struct {
	Text  string
	Call  *Call
	Fault Fault
	Stop  Stop

	number int64 // of this answer: agents tell the uses of tools apart by their names
}

func (a Answer) id(kind string) string { return fmt.Sprintf("%s_%d", kind, a.number) }

// A Stop is why a model comes to no end of its own.
type Stop string

// The stops; "" is the model's own end.
const (
	StopLength Stop = "length" // it has no more tokens to give
	StopFilter Stop = "filter" // its service holds the rest back
)

// said is how a service says why a model stops, by its words for each reason.
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
	// Status is an error of this status, with Message; 0: none.
	Status  int
	Message string
	Header  http.Header

	// Until is when a limit ends, which the service then says in its own way; the
	// status is 429.
	Until time.Time

	TooLong bool // the prompt is more than the model takes, as the service says it

	Cut   bool // the connection breaks half-way through the stream
	Event bool // an error stands in the stream, half-way; an answer in one piece is whole
	Hang  bool // there is no answer
}

// What every answer costs, whatever the wire: the counts are distinct, so that
// a report shows which one was read.
const (
	InputTokens     = 700 // without those from the cache
	CacheReadTokens = 300
	OutputTokens    = 20 // with those of reasoning
	ReasoningTokens = 5

	promptTokens = InputTokens + CacheReadTokens
	totalTokens  = promptTokens + OutputTokens
)

// pieces is how many a streamed text comes in.
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
