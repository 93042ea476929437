package render

import (
	"fmt"
	"strings"
	"time"

	"codeloops/internal/loop"
)

// Verb says in one word what an agent does.
func Verb(k loop.NoticeKind) string {
	switch k {
	case loop.NoticeMessage:
		return "says"
	case loop.NoticeTool:
		return "uses"
	case loop.NoticeCommand:
		return "runs"
	case loop.NoticeEdit:
		return "edits"
	case loop.NoticeProblem:
		return "fault"
	case loop.NoticeChange:
		return "next"
	case loop.NoticeOutput, loop.NoticeLook:
	}
	return "prints"
}

// Clock writes how long something has taken so far: 4:05 or 1:02:03.
func Clock(d time.Duration) string {
	seconds := int(max(0, d) / time.Second)
	if seconds >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

// Limit writes a time limit.
func Limit(d time.Duration) string {
	said := d.String()
	for _, nothing := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(said, nothing) {
			said = said[:len(said)-2]
		}
	}
	return said
}
