package model

import (
	"encoding/json"
	"net/http"
)

// OpenAI's Responses API.

func parseResponses(body []byte, r *Request) error {
	var q struct {
		Stream       bool            `json:"stream"`
		Instructions string          `json:"instructions"`
		Input        json.RawMessage `json:"input"`
		Tools        []responsesTool `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	r.Stream = q.Stream
	r.say(System, q.Instructions)
	var text string
	if json.Unmarshal(q.Input, &text) == nil {
		r.say(User, text)
	}
	var items []struct {
		Type    string  `json:"type"`
		Role    string  `json:"role"`
		Content content `json:"content"`
		Output  content `json:"output"`
	}
	_ = json.Unmarshal(q.Input, &items) // fails for a text, which has been read
	for _, item := range items {
		switch item.Type {
		case "function_call_output", "custom_tool_call_output":
			r.say(Result, item.Output.text()+"\n")
		case "message", "":
			r.say(speaker(item.Role), item.Content.text())
		}
	}
	for _, t := range q.Tools {
		if t.Type != "namespace" {
			r.Tools = append(r.Tools, Tool{Name: t.Name, Input: t.Parameters})
		}
		for _, in := range t.Tools {
			r.Tools = append(r.Tools, Tool{t.Name, in.Name, in.Parameters})
		}
	}
	return nil
}

// A responsesTool is a tool, or a namespace with several.
type responsesTool struct {
	Type       string          `json:"type"`
	Name       string          `json:"name"`
	Parameters Schema          `json:"parameters"`
	Tools      []responsesTool `json:"tools"`
}

// responsesItems returns the items of an answer.
func responsesItems(a Answer) []object {
	items := []object{}
	if a.Text != "" || a.Call == nil {
		items = append(items, object{
			"type": "message", "id": a.id("msg"), "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.Text, "annotations": []any{}}},
		})
	}
	if a.Call != nil {
		call := object{
			"type": "function_call", "id": a.id("fc"), "call_id": a.id("call"), "status": "completed",
			"name": a.Call.Tool, "arguments": a.Call.arguments(),
		}
		if a.Call.Namespace != "" {
			call["namespace"] = a.Call.Namespace
		}
		items = append(items, call)
	}
	return items
}

const exceeds = "Your input exceeds the context window of this model."

func wholeResponses(a Answer) any {
	if a.Fault.TooLong {
		return failedResponse("context_length_exceeded", exceeds).data
	}
	whole := object{
		"id": a.id("resp"), "object": "response", "status": "completed", "model": "scripted", "output": responsesItems(a),
		"usage": object{
			"input_tokens": promptTokens, "output_tokens": OutputTokens, "total_tokens": totalTokens,
			"input_tokens_details":  object{"cached_tokens": CacheReadTokens},
			"output_tokens_details": object{"reasoning_tokens": ReasoningTokens},
		},
	}
	if a.Stop != "" {
		whole["status"] = "incomplete"
		whole["incomplete_details"] = object{"reason": a.said("", "", "max_output_tokens", "content_filter")}
	}
	return whole
}

func streamResponses(a Answer) []event {
	if a.Fault.TooLong {
		return []event{failedResponse("context_length_exceeded", exceeds)}
	}
	var all []event
	add := func(kind string, fields object) {
		fields["type"] = kind
		all = append(all, event{kind, fields})
	}
	add("response.created", object{"response": object{"id": a.id("resp"), "status": "in_progress"}})
	for i, item := range responsesItems(a) {
		add("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			for _, piece := range split(a.Text) {
				add("response.output_text.delta", object{
					"item_id": a.id("msg"), "output_index": i, "content_index": 0, "delta": piece,
				})
			}
		}
		add("response.output_item.done", object{"output_index": i, "item": item})
	}
	if a.Stop != "" {
		add("response.incomplete", object{"response": wholeResponses(a)})
		return all
	}
	add("response.completed", object{"response": wholeResponses(a)})
	return all
}

func failResponses(status int, message string) event {
	if status == http.StatusInternalServerError {
		return failedResponse("server_error", message)
	}
	return event{"error", failChat(status, message).data}
}

// failedResponse returns an event whose data also serves as the body of an error.
func failedResponse(code, message string) event {
	return event{"response.failed", object{
		"type":     "response.failed",
		"response": object{"id": "resp_0", "status": "failed", "error": object{"code": code, "message": message}},
		"error":    object{"message": message, "type": code, "code": code},
	}}
}
