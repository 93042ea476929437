package model

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// How the services report, with the status 429, when a limit ends. All but Google's send
// the header Retry-After.

func limited(left time.Duration) http.Header {
	return http.Header{"Retry-After": {strconv.Itoa(seconds(left))}}
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

// limitMessages is Anthropic's answer for a subscription: the end of the limit is only in
// the header.
func limitMessages(left time.Duration, until time.Time) (http.Header, any) {
	h := limited(left)
	reset := strconv.FormatInt(until.Unix(), 10)
	for name, value := range map[string]string{
		"Status": "rejected", "Reset": reset, "5h-Status": "rejected", "5h-Reset": reset, "5h-Utilization": "1.0",
		"Representative-Claim": "five_hour", "Overage-Status": "rejected", "Overage-Disabled-Reason": "org_level_disabled",
	} {
		h.Set("Anthropic-Ratelimit-Unified-"+name, value)
	}
	return h, failMessages(http.StatusTooManyRequests, "This request would exceed your account's rate limit. Please try again later.").data
}

// limitResponses is the answer that Codex gets with a ChatGPT plan.
func limitResponses(left time.Duration, until time.Time) (http.Header, any) {
	return limited(left), object{"error": object{
		"type": "usage_limit_reached", "message": "The usage limit has been reached", "plan_type": "plus",
		"resets_at": until.Unix(), "resets_in_seconds": seconds(left),
	}}
}

func limitChat(left time.Duration, _ time.Time) (http.Header, any) {
	h := limited(left)
	h.Set("X-Ratelimit-Remaining-Requests", "0")
	h.Set("X-Ratelimit-Reset-Requests", pause(left))
	return h, object{"error": object{
		"message": "Rate limit reached for scripted-model in organization org-scripted on requests per min (RPM): Limit 3, Used 3, " +
			"Requested 1. Please try again in " + pause(left) + ". Visit https://platform.openai.com/account/rate-limits to learn more.",
		"type": "requests", "param": nil, "code": "rate_limit_exceeded",
	}}
}

// pause formats a duration like OpenAI: 1m2.5s.
func pause(d time.Duration) string { return d.Round(time.Millisecond).String() }

func limitGemini(left time.Duration, _ time.Time) (http.Header, any) {
	delay := fmt.Sprintf("%.9fs", left.Seconds())
	const kind = "type.googleapis.com/google.rpc."
	return http.Header{}, object{"error": object{
		"code": http.StatusTooManyRequests, "status": "RESOURCE_EXHAUSTED",
		"message": "You exceeded your current quota, please check your plan and billing details. For more information on this error, " +
			"head to: https://ai.google.dev/gemini-api/docs/rate-limits. \n* Quota exceeded for metric: " +
			"generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 10\nPlease retry in " + delay + ".",
		"details": []object{
			{"@type": kind + "QuotaFailure", "violations": []object{{
				"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
				"quotaId":     "GenerateRequestsPerMinutePerProjectPerModel-FreeTier", "quotaValue": "10",
			}}},
			{"@type": kind + "RetryInfo", "retryDelay": delay},
		},
	}}
}
