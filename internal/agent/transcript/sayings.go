package transcript

import (
	"cmp"
	_ "embed"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"codeloops/internal/loop"
)

//go:embed sayings.toml
var sayingsFile string

// A saying is known text of an error message. It has either begins or holds.
type saying struct {
	Begins string
	Holds  string
	Ending loop.Ending
}

type knownSayings struct {
	Words  map[loop.Ending][]string // codes of errors, by what they mean
	Saying []saying

	ofWord map[string]loop.Ending
}

var sayings = sync.OnceValue(func() (k knownSayings) { //nolint:gochecknoglobals // parsed once, never changed
	if meta, err := toml.Decode(sayingsFile, &k); err != nil || len(meta.Undecoded()) > 0 {
		panic("sayings.toml: it cannot be read") // embedded, and tested
	}
	k.ofWord = map[string]loop.Ending{}
	for ending, words := range k.Words {
		for _, word := range words {
			k.ofWord[word] = ending
		}
	}
	return k
})

// said returns the ending for an error message in known words, EndFailed for any other. known
// is set for words that mean nothing else.
func said(message string) (e loop.Ending, known bool) {
	message = strings.ToLower(strings.ReplaceAll(message, "’", "'"))
	for _, s := range sayings().Saying {
		if s.Begins != "" && strings.HasPrefix(message, s.Begins) || s.Holds != "" && strings.Contains(message, s.Holds) {
			return s.Ending, true
		}
	}
	return loop.EndFailed, false
}

// OfMessage returns the ending for a message of a service or its client, and what it says: the
// text in it, if it is the JSON of an answer.
func OfMessage(message string) (e loop.Ending, text string) {
	_, text = answered(message)
	return ofMessage(message), cmp.Or(text, message)
}
