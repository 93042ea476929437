package queueview

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// TestTaskColumns: a table fits whatever the width, says what matters longest, and never cuts
// within a character.
func TestTaskColumns(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"ID", "STATE", "ATTEMPT", "WORKER", "ITER", "DOING", "SINCE", "COST", "TASK"},
		{"make-the-parser-accept-a68d12", "needs-human", "2", "machine/12345", "3", "conflicts in a file with a long name, and in others", "12m 40s", "$12.30", "日本語のタスク：パーサーを直してテスト"},
	}
	for width := 20; width < 240; width++ {
		sum := -2
		for _, w := range taskColumns(rows, width) {
			if w > 0 {
				sum += w + 2
			}
		}
		if sum > width && width >= 46 { // the ID and the state are said in any case
			t.Errorf("%d of %d columns", sum, width)
		}
	}
	if widths := taskColumns(rows, 240); widths[columnWorker] == 0 || widths[columnTitle] != ansi.StringWidth(rows[1][columnTitle]) {
		t.Errorf("%v", widths)
	}
	rows[1][columnCost], rows[1][columnIteration] = "-", ""
	if widths := taskColumns(rows, 240); widths[columnCost] != 0 || widths[columnIteration] != 0 {
		t.Errorf("columns that say nothing: %v", widths)
	}
}
