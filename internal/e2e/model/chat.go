package model

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// OpenAI's Chat Completions API.

func parseChat(body []byte, r *Request) error {
	var q struct {
		Stream   bool `json:"stream"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string `json:"name"`
				Parameters Schema `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Format struct {
			Type string `json:"type"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	r.Stream, r.Schema = q.Stream, q.Format.Type == "json_schema"
	for _, m := range q.Messages {
		text := m.Content.text()
		if m.Role == "tool" {
			text += "\n" // an empty result counts, too
		}
		r.say(speaker(m.Role), text)
	}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Function.Name, Input: t.Function.Parameters})
	}
	return nil
}

func chatStop(a Answer) string {
	return a.said("stop", "tool_calls", "length", "content_filter")
}

func chatUsage() object {
	return object{
		"prompt_tokens": promptTokens, "completion_tokens": OutputTokens, "total_tokens": totalTokens,
		"prompt_tokens_details":     object{"cached_tokens": CacheReadTokens},
		"completion_tokens_details": object{"reasoning_tokens": ReasoningTokens},
	}
}

func chatCall(a Answer) object {
	return object{
		"index": 0, "id": a.id("call"), "type": "function",
		"function": object{"name": a.Call.Tool, "arguments": a.Call.arguments()},
	}
}

func wholeChat(a Answer) any {
	message := object{"role": "assistant", "content": a.Text}
	if a.Call != nil {
		message["tool_calls"] = []object{chatCall(a)}
	}
	return object{
		"id": a.id("chatcmpl"), "object": "chat.completion", "created": 1, "model": "scripted", "usage": chatUsage(),
		"choices": []object{{"index": 0, "message": message, "finish_reason": chatStop(a)}},
	}
}

func streamChat(a Answer) []event {
	var all []event
	chunk := func(choices ...object) object {
		if choices == nil {
			choices = []object{}
		}
		c := object{
			"id": a.id("chatcmpl"), "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices,
		}
		all = append(all, event{"", c})
		return c
	}
	delta := func(d object, stop any) { chunk(object{"index": 0, "delta": d, "finish_reason": stop}) }
	delta(object{"role": "assistant", "content": ""}, nil)
	for _, piece := range split(a.Text) {
		delta(object{"content": piece}, nil)
	}
	if a.Call != nil {
		delta(object{"tool_calls": []object{chatCall(a)}}, nil)
	}
	delta(object{}, chatStop(a))
	chunk()["usage"] = chatUsage()
	return append(all, event{"", "[DONE]"})
}

func failChat(status int, message string) event {
	kind := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusTooManyRequests: "rate_limit_error",
		http.StatusBadRequest: "invalid_request_error", http.StatusNotFound: "not_found_error",
	}[status]
	return event{"", object{"error": object{"message": message, "type": cmp.Or(kind, "server_error"), "code": status}}}
}
