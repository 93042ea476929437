package lines_test

import (
	"testing"
)

const (
	before = "a\nb\nc\nd"
	after  = "a\nB\nc\nd\n"
	hunks  = "@@ -1,4 +1,4 @@ f\n a\n-b\n+B\n c\n-d\n\\ No newline at end of file\n+d\n"
)

func TestApplyHunks(t *testing.T) {
	t.Parallel()
	got, err := applyHunks([]byte(before), []byte(hunks))
	if err != nil || string(got) != after {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = applyHunks([]byte(after), reverseHunks([]byte(hunks)))
	if err != nil || string(got) != before {
		t.Errorf("reversed: got %q, %v", got, err)
	}
}

func TestApplyHunksRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no header":       "-a\n",
		"unclosed header": "@@ -1 +1\n-a\n+b\n",
		"bad number":      "@@ -x +1 @@\n-a\n+b\n",
		"wrong place":     "@@ -2 +2 @@\n-a\n+x\n",
		"beyond the end":  "@@ -9 +9 @@\n-a\n+x\n",
		"wrong new place": "@@ -1 +2 @@\n-a\n+x\n",
		"wrong line":      "@@ -1 +1 @@\n-x\n+y\n",
		"missing newline": "@@ -4 +4 @@\n-d\n+y\n",
		"too short":       "@@ -1,2 +1,2 @@\n-a\n+x\n",
		"too long":        "@@ -1 +1,2 @@\n-a\n-b\n+x\n+y\n",
		"unknown mark":    "@@ -1 +1 @@\n*a\n",
	} {
		if got, err := applyHunks([]byte(before), []byte(text)); err == nil {
			t.Errorf("%s: made %q", name, got)
		}
	}
}
