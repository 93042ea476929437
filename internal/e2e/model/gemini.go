package model

import (
	"cmp"
	"encoding/json"
	"net/http"
)

// Google's Gemini API.

type geminiPart struct {
	Text     string          `json:"text"`
	Response json.RawMessage `json:"functionResponse"`
}

func parseGemini(body []byte, r *Request) error {
	var q struct {
		System struct {
			Parts []geminiPart `json:"parts"`
		} `json:"systemInstruction"`
		Contents []struct {
			Role  string       `json:"role"`
			Parts []geminiPart `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []struct {
				Name       string  `json:"name"`
				Parameters *Schema `json:"parameters"`
				Schema     *Schema `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			Schema     json.RawMessage `json:"responseSchema"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return err
	}
	r.Schema = q.Config.Schema != nil || q.Config.JSONSchema != nil
	for _, p := range q.System.Parts {
		r.say(System, p.Text)
	}
	for _, c := range q.Contents {
		for _, p := range c.Parts {
			if p.Response != nil {
				r.say(Result, string(p.Response))
			} else {
				r.say(speaker(c.Role), p.Text)
			}
		}
	}
	for _, t := range q.Tools {
		for _, f := range t.Functions {
			tool := Tool{Name: f.Name}
			if f.Parameters != nil {
				tool.Input = *f.Parameters
			}
			if f.Schema != nil {
				tool.Input = *f.Schema
			}
			r.Tools = append(r.Tools, tool)
		}
	}
	return nil
}

// geminiChunk is an answer, or a piece of one; stop is set on the last.
func geminiChunk(a Answer, stop bool) object {
	parts := []object{}
	if a.Text != "" {
		parts = append(parts, object{"text": a.Text})
	}
	if a.Call != nil {
		parts = append(parts, object{"functionCall": object{"name": a.Call.Tool, "args": a.Call.Input}})
	}
	candidate := object{"content": object{"role": "model", "parts": parts}, "index": 0}
	chunk := object{"candidates": []object{candidate}, "modelVersion": "scripted"}
	if stop {
		candidate["finishReason"] = a.said("STOP", "STOP", "MAX_TOKENS", "SAFETY")
		chunk["usageMetadata"] = object{
			"promptTokenCount": promptTokens, "cachedContentTokenCount": CacheReadTokens,
			"candidatesTokenCount": OutputTokens - ReasoningTokens, "thoughtsTokenCount": ReasoningTokens,
			"totalTokenCount": totalTokens,
		}
	}
	return chunk
}

func wholeGemini(a Answer) any { return geminiChunk(a, true) }

func streamGemini(a Answer) []event {
	var all []event
	for _, piece := range split(a.Text) {
		all = append(all, event{"", geminiChunk(Answer{Text: piece}, false)})
	}
	return append(all, event{"", geminiChunk(Answer{Call: a.Call, Stop: a.Stop}, true)})
}

func failGemini(status int, message string) event {
	word := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED",
		http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
		http.StatusServiceUnavailable: "UNAVAILABLE",
	}[status]
	return event{"", object{"error": object{"code": status, "message": message, "status": cmp.Or(word, "INTERNAL")}}}
}
