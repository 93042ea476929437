package model

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// Anthropic's Messages API.

func parseMessages(body []byte, r *Request) error {
	var q struct {
		Stream   bool    `json:"stream"`
		System   content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name  string `json:"name"`
			Input Schema `json:"input_schema"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	r.Stream = q.Stream
	r.say(System, q.System.text())
	for _, m := range q.Messages {
		for _, p := range m.Content {
			if p.Type == "tool_result" {
				r.say(Result, p.Content.text()+"\n")
			} else {
				r.say(speaker(m.Role), p.Text)
			}
		}
	}
	for _, t := range q.Tools {
		r.Tools = append(r.Tools, Tool{Name: t.Name, Input: t.Input})
	}
	return nil
}

type object = map[string]any

func messagesStop(a Answer) string {
	return a.said("end_turn", "tool_use", "max_tokens", "refusal")
}

func wholeMessages(a Answer) any {
	blocks := []object{}
	if a.Text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.Text})
	}
	if a.Call != nil {
		blocks = append(blocks, object{"type": "tool_use", "id": a.id("toolu"), "name": a.Call.Tool, "input": a.Call.Input})
	}
	return object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
		"stop_reason": messagesStop(a), "stop_sequence": nil, "usage": messagesUsage(OutputTokens),
	}
}

func messagesUsage(output int) object {
	return object{
		"input_tokens": InputTokens, "cache_read_input_tokens": CacheReadTokens, "cache_creation_input_tokens": 0,
		"output_tokens": output,
	}
}

func streamMessages(a Answer) []event {
	var all []event
	add := func(kind string, fields object) {
		fields["type"] = kind
		all = append(all, event{kind, fields})
	}
	add("message_start", object{"message": object{
		"id": a.id("msg"), "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": messagesUsage(1),
	}})
	index := 0
	block := func(start object, deltas ...object) {
		add("content_block_start", object{"index": index, "content_block": start})
		for _, d := range deltas {
			add("content_block_delta", object{"index": index, "delta": d})
		}
		add("content_block_stop", object{"index": index})
		index++
	}
	if a.Text != "" {
		var deltas []object
		for _, piece := range split(a.Text) {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	if a.Call != nil {
		block(object{"type": "tool_use", "id": a.id("toolu"), "name": a.Call.Tool, "input": object{}},
			object{"type": "input_json_delta", "partial_json": a.Call.arguments()})
	}
	add("message_delta", object{
		"delta": object{"stop_reason": messagesStop(a), "stop_sequence": nil},
		"usage": object{"output_tokens": OutputTokens},
	})
	add("message_stop", object{})
	return all
}

func failMessages(status int, message string) event {
	kind := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusNotFound: "not_found_error", http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}[status]
	return event{"error", object{"type": "error", "error": object{"type": cmp.Or(kind, "api_error"), "message": message}}}
}

// arguments returns the input as JSON.
func (c Call) arguments() string {
	data, err := json.Marshal(c.Input)
	if err != nil {
		return "{}"
	}
	return string(data)
}
