package agent

import (
	"crypto/sha1" //nolint:gosec // what RFC 9562 makes a name of, and no secret
	"fmt"
)

// sessionSpace is the namespace of the names that conversations get:
// f62c5f98-854b-42ed-b77f-55e116861397.
const sessionSpace = "\xf6\x2c\x5f\x98\x85\x4b\x42\xed\xb7\x7f\x55\xe1\x16\x86\x13\x97"

// sessionID is the name that the CLI is told to give its conversation: a UUID that
// follows from the turn and the try at it. CLIs refuse a name that they know, or
// go on in the conversation that has it, so that no two tries may share one. It is
// "" where the CLI takes none, where the turn continues a conversation, and where
// it has no ID.
func (a *Agent) sessionID(r Request) string {
	if len(a.spec.Begin) == 0 || r.ID == "" || a.spec.carriesOn(r.Conversation) {
		return ""
	}
	name := a.at.Dir + "\n" + r.ID // sessions in two places may have one ID
	if a.at.Run > 0 {
		name += fmt.Sprintf(".run%d", a.at.Run)
	}
	return uuid(name + r.again())
}

// uuid is the UUID of version 5 of a name, after RFC 9562, 5.5.
func uuid(name string) string {
	sum := sha1.Sum([]byte(sessionSpace + name)) //nolint:gosec // as above
	u := sum[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
