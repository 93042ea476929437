package agent

import (
	"testing"
	"time"

	"codeloops/internal/loop"
)

func TestResetIn(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 10, 20, 30, 0, 0, berlin) // 19:30 UTC
	for message, want := range map[string]string{
		"Claude AI usage limit reached|1773174600":                                                                                              "2026-03-10T20:30:00Z",
		"You've hit your limit · resets 9pm (UTC)":                                                                                              "2026-03-10T21:01:00Z",
		"You've hit your session limit · resets 8:20pm (Asia/Singapore)":                                                                        "2026-03-11T12:21:00Z",
		"5-hour limit reached ∙ resets 11pm":                                                                                                    "2026-03-10T22:01:00Z",
		"You've hit your usage limit. Visit https://x to purchase more credits or try again at 9:28 PM.":                                        "2026-03-10T20:29:00Z",
		"You've hit your usage limit. Visit https://x to purchase more credits or try again at 3:28 PM.":                                        "2026-03-11T14:29:00Z",
		"You've hit your usage limit. Upgrade to Pro (https://x), or try again at Mar 18th, 2026 12:30 PM.":                                     "2026-03-18T11:31:00Z",
		"You've hit your usage limit. Upgrade to Pro (https://x), or try again at Apr 1st, 2026 12:30 PM.":                                      "2026-04-01T10:31:00Z",
		"You've hit your usage limit. To get more, ask your admin or try again in 3 days 6 hours 57 minutes.":                                   "2026-03-14T02:27:00Z",
		"You've hit your usage limit. Upgrade to Plus or try again in 1 minute.":                                                                "2026-03-10T19:31:00Z",
		"You have exhausted your capacity on this model. Your quota will reset after 21h53m56s.":                                                "2026-03-11T17:23:56Z",
		"You exceeded your current quota, please check your plan. Please retry in 23.5s.":                                                       "2026-03-10T19:30:23.5Z",
		"Rate limit reached for gpt-5 in organization o on tokens per min (TPM): Limit 3. Please try again in 1m2s. Visit https://x":            "2026-03-10T19:31:02Z",
		"You’ve hit your usage limit. Upgrade to Pro (https://x), visit https://x to purchase more credits or try again at 9:28 PM.":            "2026-03-10T20:29:00Z",
		"You exceeded your current quota, see https://x. * limit: 10 Please retry in 594.055333560s. Suggested retry after 594.055333560s.":     "2026-03-10T19:39:54.05533356Z",
		"429 Rate limit reached for gpt-5 in organization o on requests per min (RPM): Limit 3. Please try again in 9m58.106s. Visit https://x": "2026-03-10T19:39:58.106Z",
		"You've hit your 5-hour limit · resets 10:08pm (UTC)":                                                                                   "2026-03-10T22:09:00Z",
		// With a date, a weekday or a zone.
		"You've hit your weekly limit · resets Nov 30 at 3pm (Europe/Berlin)":            "2026-11-30T14:01:00Z",
		"You've hit your Opus limit · resets Mar 12, 3:30pm (America/New_York)":          "2026-03-12T19:31:00Z",
		"You’ve reached your weekly limit ∙ resets Monday 9am UTC":                       "2026-03-16T09:01:00Z",
		"Weekly limit reached ∙ resets Tue at 9pm":                                       "2026-03-10T20:01:00Z",
		"Weekly limit reached ∙ resets Tue at 8pm":                                       "2026-03-17T19:01:00Z",
		"Usage limit exceeded, try again on 2026-12-01 at 09:00 CET":                     "2026-12-01T08:01:00Z",
		"Usage limit reached. Your limit resets on 2026-12-01T09:00:30+02:00":            "2026-12-01T07:00:30Z",
		"Rate limit exceeded. Try again on Friday, 13 March 2026 at 17:05:06 UTC+1.":     "2026-03-13T16:05:06Z",
		"You've hit your limit · resets Mar 12 at 3 p.m. PST":                            "2026-03-12T22:01:00Z",
		"You've hit your limit · resets tomorrow at 9:00 (UTC)":                          "2026-03-11T09:01:00Z",
		"You've hit your limit · resets Wednesday":                                       "2026-03-10T23:00:00Z",
		"You've hit your limit · resets Apr 1":                                           "2026-03-31T22:00:00Z",
		"You've reached your usage limit. Please try again in 3 days":                    "2026-03-13T19:30:00Z",
		"You have hit your weekly usage limit. Try again in 1 week, 2 hours and 5 mins.": "2026-03-17T21:35:00Z",
		"429 Too many requests, please retry after 1500ms":                               "2026-03-10T19:30:01.5Z",
		"Try again at 09:30 -05:00":                                                      "2026-03-11T14:31:00Z",
		// The stated minute has begun, or is over.
		"You’ve hit your usage limit. Upgrade to Pro (https://x) or try again at 8:31 PM.":                 "2026-03-10T19:32:00Z",
		"You’ve hit your usage limit. Upgrade to Pro (https://x) or try again at 8:30 PM.":                 "2026-03-10T19:30:00Z",
		"You’ve hit your usage limit. Upgrade to Pro (https://x) or try again at 8:25 PM.":                 "2026-03-10T19:25:00Z",
		"You've hit your usage limit. Upgrade to Pro (https://x), or try again at Mar 10th, 2026 8:30 PM.": "2026-03-10T19:30:00Z",
		"You’ve hit your usage limit. Upgrade to Pro (https://x) or try again at 8:15 PM.":                 "2026-03-11T19:16:00Z",
		// These only resemble a stated end.
		"Claude AI usage limit reached|17":                                   "",
		"You've hit your limit · resets 9pm (Nowhere/Else)":                  "",
		"You've hit your limit · resets Nov at 9pm":                          "",
		"You've hit your limit · resets Feb 31 at 9pm":                       "",
		"You've hit your limit · resets 9pm (XYZT)":                          "",
		"You've hit your limit. Try again in 5 months.":                      "",
		"You've hit your limit. Try again in a while, at 9pm.":               "",
		"You've hit your limit · resets soon":                                "",
		"You've hit your usage limit. Try again later.":                      "",
		"The docs say: You've hit your usage limit. Try again at 3:28 PM.":   "",
		"Your quota will reset after 5s.":                                    "",
		"You've hit your usage limit. x try again in 9999999999999999 days.": "",
		"": "",
	} {
		got := ""
		if at := resetIn(message, now); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

// TestResetOfSamples reads the end of a limit from recorded messages of the CLIs.
func TestResetOfSamples(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 6, 23, 0, 0, time.UTC)
	for cli, want := range map[string]string{
		"claude":  "2026-11-21T06:32:50Z",
		"cline":   "2026-11-21T06:32:43.068Z",
		"codex":   "2026-11-21T06:33:00Z", // it states only the minute
		"copilot": "2026-11-21T06:32:41.742Z",
		"droid":   "2026-11-21T06:31:27.698Z",
		"gemini":  "2026-11-21T06:32:42.842028928Z",
	} {
		spec, err := Find(cli)
		if err != nil {
			t.Fatal(err)
		}
		got := played(spec, loop.Write, recorded(t, cli+"/fault-limit-json"))
		if got.ResetAt.IsZero() {
			got.ResetAt = resetIn(got.Reason, now)
		}
		if at := got.ResetAt.Format(time.RFC3339Nano); at != want {
			t.Errorf("%s: %s, want %s (%s)", cli, at, want, got.Reason)
		}
	}
}

// TestResetAroundMidnight: a time just before midnight is in the recent past, not almost
// a day ahead.
func TestResetAroundMidnight(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 11, 0, 3, 0, 0, time.UTC)
	for clock, want := range map[string]string{
		"11:57 PM": "2026-03-10T23:57:00Z", "12:04 AM": "2026-03-11T00:05:00Z", "11:50 PM": "2026-03-11T23:51:00Z",
	} {
		if at := resetIn("You’ve hit your usage limit. Try again at "+clock+".", now); at.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, want %s", clock, at, want)
		}
	}
}

func TestResetInTheNewYear(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 31, 20, 0, 0, 0, time.UTC)
	if at := resetIn("You've hit your limit · resets Jan 2 at 3pm", now); at.Format(time.RFC3339) != "2027-01-02T15:01:00Z" {
		t.Error(at)
	}
}

func FuzzResetIn(f *testing.F) {
	for _, s := range []string{
		"Claude AI usage limit reached|1773174600", "You've hit your limit · resets 99pm (UTC)",
		"You've hit your usage limit. a try again at Xyz 99th, 2026 99:30 PM.", "You've hit your usage limit. a try again in 1000 days 1000 days.",
		"Rate limit reached for a Please try again in 9999999h1s.",
	} {
		f.Add(s)
	}
	now := time.Date(2026, 3, 10, 20, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		if at := resetIn(s, now); at.Location() != time.UTC {
			t.Errorf("%q: %v", s, at)
		}
	})
}

// TestResetIsTold: the stated end of a limit is read from the output of real processes.
func TestResetIsTold(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 20, 30, 0, 0, time.UTC)
	for format, test := range map[Format]struct{ output, want string }{
		"claude-stream-json": {
			`{"type":"result","subtype":"success","is_error":false,"result":"Claude AI usage limit reached|1773174600"}`, "2026-03-10T20:30:00Z",
		},
		"codex-json": {
			`{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"turn.failed","error":{"message":"You've hit your usage limit. Upgrade or try again in 2 hours 5 minutes."}}`,
			"2026-03-10T22:35:00Z",
		},
		"gemini-stream-json": {
			`{"type":"init","session_id":"s"}` + "\n" + `{"type":"result","status":"error","error":{"type":"unknown","message":"[API Error: You have exhausted your capacity on this model. Your quota will reset after 1h49m8s.]"}}`,
			"2026-03-10T22:19:08Z",
		},
	} {
		s := newStage(t, "mine")
		s.place.Now = func() time.Time { return now }
		s.does("print " + test.output)
		spec := Custom("mine", CustomConfig{Command: []string{"mine"}, Output: string(format)})
		reply, _ := s.play(s.agent(spec, ""), Request{Role: loop.RoleActor, Access: loop.Write, Iteration: 1})
		if got := reply.ResetAt.Format(time.RFC3339); reply.Ending != loop.EndRateLimited || got != test.want {
			t.Errorf("%s: %s until %s, want %s (%s)", format, reply.Ending, got, test.want, reply.Reason)
		}
	}
}
