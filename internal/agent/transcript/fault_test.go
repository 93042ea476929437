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
		`{"error":{"code":"insufficient_quota","message":"no more"}}`:                        loop.EndOutOfCredit,
		`{"message":"slowly","code":429}`:                                                    loop.EndRateLimited,
		`{"code":401}`:                                                                       loop.EndAuth,
		// Without a status, or with one that says less than the words.
		"Selected model is at capacity. Please try a different model.":   loop.EndOverloaded,
		"503 The engine is currently overloaded, please try again later": loop.EndOverloaded,
		"The engine is currently overloaded, please try again later":     loop.EndOverloaded,
		"terminated: other side closed":                                  loop.EndOverloaded,
		"Model stream ended without a finish reason.":                    loop.EndOverloaded,
		"Stream ended without finish_reason":                             loop.EndOverloaded,
		"exception TypeError: terminated sending request":                loop.EndOverloaded,
		"read ECONNRESET": loop.EndOverloaded,
		"stream disconnected before completion: Incomplete response returned, reason: content_filter": loop.EndFailed,
		"stream disconnected before completion: stream closed before response.completed":              loop.EndOverloaded,
		"400 API key expired. Please renew the API key.":                                              loop.EndAuth,
		"413 Payload Too Large":                                                                            loop.EndContextTooLong,
		"Quota exceeded. Check your plan and billing details.":                                             loop.EndOutOfCredit,
		"You exceeded your current quota, please check your plan and billing details.":                     loop.EndOutOfCredit,
		"429 You exceeded your current quota, please check your plan and billing details.":                 loop.EndOutOfCredit,
		"You exceeded your current quota, please check your plan and billing details. Please retry in 3s.": loop.EndRateLimited,
		"Your credit balance is too low to access the Anthropic API.":                                      loop.EndOutOfCredit,
		"402 Payment Required": loop.EndOutOfCredit,
		`402 {"error":{"message":"This request requires more credits, or fewer max_tokens.","code":402}}`:      loop.EndOutOfCredit,
		`429 {"error":{"message":"You exceeded it.","type":"insufficient_quota","code":"insufficient_quota"}}`: loop.EndOutOfCredit,
		`{"error":{"message":"no money","type":"insufficient_quota","code":429}}`:                              loop.EndOutOfCredit,
		`{"status":"error","message":"403 Forbidden"}`:                                                         loop.EndAuth,
		`{"status":"error","message":"503 The engine is currently overloaded"}`:                                loop.EndOverloaded,
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

// TestOutOfCredit: an account without credit is no limit that ends, whatever its status.
func TestOutOfCredit(t *testing.T) {
	t.Parallel()
	for format, says := range map[string]string{
		"claude-stream-json": `{"type":"assistant","error":"billing_error","message":{"content":[{"type":"text","text":"Credit balance is too low"}]}}
{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Credit balance is too low"}`,
		"codex-json":         `{"type":"turn.failed","error":{"message":"Quota exceeded. Check your plan and billing details."}}`,
		"copilot-json":       `{"type":"session.error","data":{"errorType":"rate_limit","statusCode":429,"message":"429 You exceeded your current quota, please check your plan and billing details."}}`,
		"opencode-json":      `{"type":"error","error":{"name":"APIError","data":{"statusCode":429,"message":"You exceeded your current quota, please check your plan and billing details."}}}`,
		"pi-json":            `{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 You exceeded your current quota, please check your plan and billing details."}}` + "\n" + `{"type":"agent_end"}`,
		"cline-json":         `{"type":"run_result","finishReason":"error","text":"402 Payment Required"}`,
		"gemini-stream-json": `{"type":"result","status":"error","error":{"message":"[API Error: {\"error\":{\"code\":402,\"message\":\"pay\"}}]"}}`,
	} {
		if got := hear(t, format, []byte(says), whole).Report; got.Ending != loop.EndOutOfCredit {
			t.Errorf("%s: %s (%s)", format, got.Ending, got.Reason)
		}
	}
}
