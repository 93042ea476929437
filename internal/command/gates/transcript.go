package gates

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
)

// maxLine limits a line of a transcript, in bytes.
const maxLine = 64 << 20

// lastPrompt returns what the user has asked last, by the agent's own record of the conversation; "" if that cannot be read.
func lastPrompt(transcript string) (last string) {
	info, err := os.Stat(transcript)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(transcript)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // opened for reading
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if text := strings.TrimSpace(promptIn(lines.Bytes())); text != "" {
			last = text
		}
	}
	return last
}

// promptIn returns the prompt that a line of a transcript holds, or "". Claude Code writes messages, of which those of
// the user also bring results of tools; Codex writes events.
func promptIn(line []byte) string {
	var r struct {
		Type    string
		IsMeta  bool
		Message struct{ Content json.RawMessage }
		Payload struct{ Type, Message string }
	}
	if json.Unmarshal(line, &r) != nil {
		return ""
	}
	switch {
	case r.Type == "event_msg" && r.Payload.Type == "user_message":
		return r.Payload.Message
	case r.Type != "user" || r.IsMeta:
		return ""
	}
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return text
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(r.Message.Content, &parts) != nil {
		return ""
	}
	var all strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			all.WriteString(p.Text)
		}
	}
	return all.String()
}
