package agent

import (
	"crypto/sha1" //nolint:gosec // RFC 9562 prescribes it, and nothing is secret
	"fmt"
)

// sessionSpace is the UUID namespace for conversations:
// f62c5f98-854b-42ed-b77f-55e116861397.
const sessionSpace = "\xf6\x2c\x5f\x98\x85\x4b\x42\xed\xb7\x7f\x55\xe1\x16\x86\x13\x97"

// sessionID returns the name that the CLI is to give its conversation: a UUID derived from
// the turn and the try. No two tries may share one, because CLIs reject a name that they
// know, or continue its conversation. It is "" if the CLI accepts no name, if the turn
// continues a conversation, or if it has no ID.
func (a *Agent) sessionID(r Request) string {
	if len(a.spec.Begin) == 0 || r.ID == "" || a.spec.canResume(r.Conversation) {
		return ""
	}
	name := a.at.Dir + "\n" + r.ID // sessions in two places may have one ID
	if a.at.Run > 0 {
		name += fmt.Sprintf(".run%d", a.at.Run)
	}
	return uuid(name + r.again())
}

// uuid returns the version 5 UUID of a name (RFC 9562, 5.5).
func uuid(name string) string {
	sum := sha1.Sum([]byte(sessionSpace + name)) //nolint:gosec // as above
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
