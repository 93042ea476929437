package scripted

import (
	"maps"
	"slices"
)

// A format is how a CLI prints a turn: its events, with the fields that matter.
type format struct {
	open    []event
	message func(text string) []event
	end     func(c closing) []event
}

// An event is a line of JSON.
type event = map[string]any

// conversation is the ID of every conversation.
const conversation = "scripted-conversation"

func allFormats() map[string]format {
	return map[string]format{
		"claude-stream-json": claude(func(u usage) int { return u.Input }),
		"cline-json":         cline(),
		"codex-json":         codex(),
		"copilot-json":       copilot(),
		"droid-stream-json":  droid(),
		"gemini-stream-json": gemini(),
		"opencode-json":      opencode(),
		"pi-json":            pi(),
		"qwen-stream-json":   claude(usage.allInput),
	}
}

// formats are the names of the structured formats, sorted.
func formats() []string { return slices.Sorted(maps.Keys(allFormats())) }

func claude(input func(usage) int) format {
	return format{
		open: []event{{"type": "system", "subtype": "init", "session_id": conversation}},
		message: func(text string) []event {
			return []event{{"type": "assistant", "message": spoken(text)}}
		},
		end: func(c closing) (all []event) {
			if c.Reset != 0 {
				all = append(all, event{"type": "rate_limit_event", "rate_limit_info": event{"status": "rejected", "resetsAt": c.Reset}})
			}
			result := event{"type": "result", "subtype": "success", "num_turns": 1, "is_error": c.Fault != "", "result": c.Final}
			if c.Fault != "" {
				result["result"], result["api_error_status"] = c.Reason, c.status()
			}
			if u := c.Usage; u != nil {
				result["usage"] = event{"input_tokens": input(*u), "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead}
				if u.Priced {
					result["total_cost_usd"] = u.Cost
				}
			}
			return append(all, result)
		},
	}
}

// spoken is a message in the form of a model's service.
func spoken(text string) event {
	return event{"role": "assistant", "content": []event{{"type": "text", "text": text}}}
}

func cline() format {
	return format{
		message: func(text string) []event {
			return []event{
				{"type": "agent_event", "event": event{"type": "iteration_start"}},
				{"type": "agent_event", "event": event{"type": "content_end", "contentType": "text", "text": text}},
			}
		},
		end: func(c closing) (all []event) {
			result := event{"type": "run_result", "iterations": 1, "finishReason": "completed", "text": c.Final}
			if c.Fault != "" {
				class := map[string]string{"auth": "auth", "context_too_long": "context_window_exceeded"}[c.Fault]
				all = append(all, event{"type": "agent_event", "event": event{"type": "error", "error": event{"message": c.Reason}, "errorClass": class}})
				result["finishReason"], result["text"] = "error", c.Reason
			}
			if u := c.Usage; u != nil {
				result["usage"] = event{"inputTokens": u.allInput(), "outputTokens": u.Output, "cacheReadTokens": u.CacheRead, "totalCost": u.Cost}
			}
			return append(all, result)
		},
	}
}

func codex() format {
	return format{
		open: []event{{"type": "thread.started", "thread_id": conversation}, {"type": "turn.started"}},
		message: func(text string) []event {
			return []event{{"type": "item.completed", "item": event{"type": "agent_message", "text": text}}}
		},
		end: func(c closing) []event {
			if c.Fault != "" {
				reason := c.Reason
				if c.status() != 0 {
					reason = "unexpected status " + c.numbered()
				}
				return []event{{"type": "turn.failed", "error": event{"message": reason}}}
			}
			done := event{"type": "turn.completed"}
			if u := c.Usage; u != nil {
				done["usage"] = event{"input_tokens": u.allInput(), "cached_input_tokens": u.CacheRead, "output_tokens": u.Output}
			}
			return []event{done}
		},
	}
}

func copilot() format {
	return format{
		open: []event{{"type": "assistant.turn_start", "data": event{}}},
		message: func(text string) []event {
			return []event{{"type": "assistant.message", "data": event{"content": text}}}
		},
		end: func(c closing) []event {
			result := event{"type": "result", "sessionId": conversation, "exitCode": 0}
			if c.Fault == "" {
				return []event{result}
			}
			result["exitCode"] = 1
			return []event{{"type": "session.error", "data": event{"errorType": "query", "statusCode": c.status(), "message": c.Reason}}, result}
		},
	}
}

func droid() format {
	return format{
		open: []event{{"type": "system", "subtype": "init", "session_id": conversation}},
		message: func(text string) []event {
			return []event{{"type": "message", "role": "assistant", "text": text, "session_id": conversation}}
		},
		end: func(c closing) []event {
			if c.Fault != "" {
				return []event{{"type": "error", "message": c.numbered(), "session_id": conversation}}
			}
			done := event{"type": "completion", "finalText": c.Final, "numTurns": 1, "session_id": conversation}
			if u := c.Usage; u != nil {
				done["usage"] = event{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead}
			}
			return []event{done}
		},
	}
}

func gemini() format {
	return format{
		open: []event{{"type": "init", "session_id": conversation}},
		message: func(text string) []event {
			return []event{
				{"type": "tool_result", "status": "success"}, // separates two messages
				{"type": "message", "role": "assistant", "content": text, "delta": true},
			}
		},
		end: func(c closing) []event {
			result := event{"type": "result", "status": "success"}
			if c.Fault != "" {
				result["status"], result["error"] = "error", event{"message": "[API Error: " + c.numbered() + "]"}
			}
			if u := c.Usage; u != nil {
				result["stats"] = event{"input_tokens": u.allInput(), "output_tokens": u.Output, "cached": u.CacheRead, "total_tokens": u.total()}
			}
			return []event{result}
		},
	}
}

func opencode() format {
	return format{
		message: func(text string) []event {
			return []event{
				{"type": "step_start", "sessionID": conversation, "part": event{"type": "step-start"}},
				{"type": "text", "sessionID": conversation, "part": event{"type": "text", "text": text}},
			}
		},
		end: func(c closing) []event {
			if c.Fault != "" {
				return []event{{"type": "error", "sessionID": conversation, "error": event{
					"name": "APIError", "data": event{"message": c.Reason, "statusCode": c.status()},
				}}}
			}
			part := event{"type": "step-finish", "reason": "stop"}
			if u := c.Usage; u != nil {
				part["cost"], part["tokens"] = u.Cost, event{"input": u.Input, "output": u.Output, "cache": event{"read": u.CacheRead}}
			}
			return []event{{"type": "step_finish", "sessionID": conversation, "part": part}}
		},
	}
}

func pi() format {
	message := func(text, stop string) event {
		said := spoken(text)
		said["stopReason"] = stop
		return said
	}
	return format{
		open: []event{{"type": "session", "id": conversation}, {"type": "agent_start"}},
		message: func(text string) []event {
			return []event{{"type": "message_end", "message": message(text, "stop")}}
		},
		end: func(c closing) (all []event) {
			last := message(c.Final, "stop") // repeated, because usage comes only with a message
			if c.Fault != "" {
				last = message("", "error")
				last["errorMessage"] = c.numbered()
			}
			if u := c.Usage; u != nil {
				last["usage"] = event{"input": u.Input, "output": u.Output, "cacheRead": u.CacheRead, "cost": event{"total": u.Cost}}
			}
			if c.Fault != "" || c.Usage != nil {
				all = append(all, event{"type": "message_end", "message": last})
			}
			return append(all, event{"type": "agent_end"})
		},
	}
}
