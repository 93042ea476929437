package scripted

// tongues are the structured formats, each as the CLI prints it that the
// format is named after; of its fields those are there that matter.
func tongues() map[string]tongue {
	return map[string]tongue{
		"claude-stream-json": claude(false),
		"cline-json":         cline(),
		"codex-json":         codex(),
		"copilot-json":       copilot(),
		"droid-stream-json":  droid(),
		"gemini-stream-json": gemini(),
		"opencode-json":      opencode(),
		"pi-json":            pi(),
		"qwen-stream-json":   claude(true),
	}
}

// status is the answer of a model's service that goes with a fault, 0 when
// there is none.
func status(fault string) int {
	return map[string]int{"auth": 401, "rate_limited": 429, "overloaded": 529, "context_too_long": 413}[fault]
}

// numbered puts the status in front of a reason, as many CLIs do.
func (c closing) numbered() string {
	digits := map[int]string{401: "401 ", 429: "429 ", 529: "529 ", 413: "413 "}
	return digits[status(c.fault)] + c.reason
}

// claude makes Claude Code's stream-json, or Qwen Code's, which counts tokens
// from a cache among the input.
func claude(qwen bool) tongue {
	return tongue{
		open: func(id string) []event {
			return []event{{"type": "system", "subtype": "init", "session_id": id}}
		},
		message: func(text string) []event {
			content := []event{{"type": "text", "text": text}}
			return []event{{"type": "assistant", "message": event{"role": "assistant", "content": content}}}
		},
		close: func(c closing) []event {
			var events []event
			if !c.reset.IsZero() {
				events = append(events, event{"type": "rate_limit_event", "rate_limit_info": event{
					"status": "rejected", "resetsAt": c.reset.Unix(),
				}})
			}
			end := event{"type": "result", "subtype": "success", "is_error": c.fault != "", "result": c.final, "num_turns": 1}
			if c.fault != "" {
				end["result"], end["api_error_status"] = c.reason, status(c.fault)
			}
			if u := c.usage; u != nil {
				input := u.input
				if qwen {
					input += u.cacheRead
				}
				end["usage"] = event{"input_tokens": input, "output_tokens": u.output, "cache_read_input_tokens": u.cacheRead}
				if u.priced {
					end["total_cost_usd"] = u.cost
				}
			}
			return append(events, end)
		},
	}
}

func codex() tongue {
	return tongue{
		open: func(id string) []event {
			return []event{{"type": "thread.started", "thread_id": id}, {"type": "turn.started"}}
		},
		message: func(text string) []event {
			return []event{{"type": "item.completed", "item": event{"type": "agent_message", "text": text}}}
		},
		close: func(c closing) []event {
			if c.fault != "" {
				reason := c.reason
				if status(c.fault) != 0 {
					reason = "unexpected status " + c.numbered()
				}
				return []event{{"type": "turn.failed", "error": event{"message": reason}}}
			}
			end := event{"type": "turn.completed"}
			if u := c.usage; u != nil {
				end["usage"] = event{
					"input_tokens": u.input + u.cacheRead, "cached_input_tokens": u.cacheRead, "output_tokens": u.output,
				}
			}
			return []event{end}
		},
	}
}

func opencode() tongue {
	const id = "scripted-conversation"
	return tongue{
		open: func(string) []event { return nil },
		message: func(text string) []event {
			return []event{
				{"type": "step_start", "sessionID": id, "part": event{"type": "step-start"}},
				{"type": "text", "sessionID": id, "part": event{"type": "text", "text": text}},
			}
		},
		close: func(c closing) []event {
			if c.fault != "" {
				data := event{"message": c.reason, "statusCode": status(c.fault)}
				return []event{{"type": "error", "sessionID": id, "error": event{"name": "APIError", "data": data}}}
			}
			part := event{"type": "step-finish", "reason": "stop"}
			if u := c.usage; u != nil {
				part["cost"] = u.cost
				part["tokens"] = event{"input": u.input, "output": u.output, "cache": event{"read": u.cacheRead}}
			}
			return []event{{"type": "step_finish", "sessionID": id, "part": part}}
		},
	}
}

func gemini() tongue {
	return tongue{
		open: func(id string) []event { return []event{{"type": "init", "session_id": id}} },
		message: func(text string) []event {
			// A tool's result stands between two messages, or they would be one.
			return []event{
				{"type": "tool_result", "status": "success"},
				{"type": "message", "role": "assistant", "content": text, "delta": true},
			}
		},
		close: func(c closing) []event {
			end := event{"type": "result", "status": "success"}
			if c.fault != "" {
				end["status"], end["error"] = "error", event{"message": "[API Error: " + c.numbered() + "]"}
			}
			if u := c.usage; u != nil {
				in := u.input + u.cacheRead
				end["stats"] = event{
					"input_tokens": in, "output_tokens": u.output, "cached": u.cacheRead, "total_tokens": in + u.output,
				}
			}
			return []event{end}
		},
	}
}

func copilot() tongue {
	return tongue{
		open: func(string) []event { return []event{{"type": "assistant.turn_start", "data": event{}}} },
		message: func(text string) []event {
			return []event{{"type": "assistant.message", "data": event{"content": text}}}
		},
		close: func(c closing) []event {
			end := event{"type": "result", "sessionId": "scripted-conversation", "exitCode": 0}
			if c.fault == "" {
				return []event{end}
			}
			end["exitCode"] = 1
			return []event{
				{"type": "session.error", "data": event{"errorType": "query", "statusCode": status(c.fault), "message": c.reason}},
				end,
			}
		},
	}
}

func pi() tongue {
	answer := func(text, reason string, u *usage) event {
		m := event{"role": "assistant", "content": []event{{"type": "text", "text": text}}, "stopReason": reason}
		if u != nil {
			m["usage"] = event{
				"input": u.input, "output": u.output, "cacheRead": u.cacheRead, "cost": event{"total": u.cost},
			}
		}
		return m
	}
	return tongue{
		open: func(id string) []event { return []event{{"type": "session", "id": id}, {"type": "agent_start"}} },
		message: func(text string) []event {
			return []event{{"type": "message_end", "message": answer(text, "stop", nil)}}
		},
		close: func(c closing) []event {
			end := event{"type": "agent_end"}
			switch {
			case c.fault != "":
				last := answer("", "error", c.usage)
				last["errorMessage"] = c.numbered()
				return []event{{"type": "message_end", "message": last}, end}
			case c.usage != nil: // stands with a message only: the last one comes again
				return []event{{"type": "message_end", "message": answer(c.final, "stop", c.usage)}, end}
			}
			return []event{end}
		},
	}
}

func cline() tongue {
	inner := func(e event) event { return event{"type": "agent_event", "event": e} }
	return tongue{
		open: func(string) []event { return nil },
		message: func(text string) []event {
			return []event{
				inner(event{"type": "iteration_start"}),
				inner(event{"type": "content_end", "contentType": "text", "text": text}),
			}
		},
		close: func(c closing) []event {
			end := event{"type": "run_result", "finishReason": "completed", "iterations": 1, "text": c.final}
			if u := c.usage; u != nil {
				end["usage"] = event{
					"inputTokens": u.input + u.cacheRead, "outputTokens": u.output,
					"cacheReadTokens": u.cacheRead, "totalCost": u.cost,
				}
			}
			if c.fault == "" {
				return []event{end}
			}
			end["finishReason"], end["text"] = "error", c.reason
			class := map[string]string{"auth": "auth", "context_too_long": "context_window_exceeded"}[c.fault]
			return []event{
				inner(event{"type": "error", "error": event{"message": c.reason}, "errorClass": class}),
				end,
			}
		},
	}
}

func droid() tongue {
	const id = "scripted-conversation"
	return tongue{
		open: func(string) []event { return []event{{"type": "system", "subtype": "init", "session_id": id}} },
		message: func(text string) []event {
			return []event{{"type": "message", "role": "assistant", "text": text, "session_id": id}}
		},
		close: func(c closing) []event {
			if c.fault != "" {
				return []event{{"type": "error", "message": c.numbered(), "session_id": id}}
			}
			end := event{"type": "completion", "finalText": c.final, "numTurns": 1, "session_id": id}
			if u := c.usage; u != nil {
				end["usage"] = event{
					"input_tokens": u.input, "output_tokens": u.output, "cache_read_input_tokens": u.cacheRead,
				}
			}
			return []event{end}
		},
	}
}
