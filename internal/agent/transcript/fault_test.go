package transcript

import (
	"testing"

	"codeloops/internal/loop"
)

// TestStatusOfMessages: a status, or its name, is found wherever services and their
// clients put it.
func TestStatusOfMessages(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]loop.Ending{
		"401 Unauthorized":  loop.EndAuth,
		"403":               loop.EndAuth,
		"401: Unauthorized": loop.EndAuth,
		`401: {"code":401,"message":"no such user"}`:                                         loop.EndAuth,
		`429: {"code":429,"message":"slowly"}`:                                               loop.EndRateLimited,
		`503: {"message":"later","type":"overloaded"}`:                                       loop.EndOverloaded,
		`400: {"message":"prompt is too long: 9 tokens"}`:                                    loop.EndContextTooLong,
		"unexpected status 503 Service Unavailable: later, url: http://127.0.0.1/responses":  loop.EndOverloaded,
		"exceeded retry limit, last status: 429 Too Many Requests":                           loop.EndRateLimited,
		"Authentication failed with provider at http://127.0.0.1/v1 (HTTP 401).":             loop.EndAuth,
		"Request failed with status code 401":                                                loop.EndAuth,
		"Error code: 429 - {'error': {'message': 'slowly'}}":                                 loop.EndRateLimited,
		`{"error":{"code":"401","message":"Access denied"}}`:                                 loop.EndAuth,
		`{"error":{"code":"invalid_api_key","message":"Incorrect API key"}}`:                 loop.EndAuth,
		`{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}`: loop.EndAuth,
		`{"type":"error","error":{"type":"authentication_error","message":"bad key"}}`:       loop.EndAuth,
		`{"error":{"code":401,"message":"bad token","status":"UNAUTHENTICATED"}}`:            loop.EndAuth,
		`{"error":{"type":"overloaded_error","message":"Overloaded"}}`:                       loop.EndOverloaded,
		`{"error":{"code":"insufficient_quota","message":"no more"}}`:                        loop.EndRateLimited,
		`{"message":"slowly","code":429}`:                                                    loop.EndRateLimited,
		`{"code":401}`:                                                                       loop.EndAuth,
		// These contain no status.
		"":                           loop.EndFailed,
		"4011 files":                 loop.EndFailed,
		"400 Bad Request":            loop.EndFailed,
		"the test of 401 has failed": loop.EndFailed,
		"exit status 1":              loop.EndFailed,
		"it ended with code 429":     loop.EndFailed,
		`{"error":{"code":404,"message":"gone"}}`: loop.EndFailed,
	} {
		if got := ofMessage(message); got != want {
			t.Errorf("%q: %s, want %s", message, got, want)
		}
	}
}

// TestInPlain: a message with a JSON document after a status is shown as the status and
// the document's message.
func TestInPlain(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`401: {"code":401,"message":"no such user"}`: "401 no such user",
		"401 Unauthorized":                           "401 Unauthorized",
		"broken":                                     "broken",
		`{"message":"bare"}`:                         `{"message":"bare"}`,
	} {
		if got := inPlain(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
