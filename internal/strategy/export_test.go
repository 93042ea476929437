package strategy

import "codeloops/internal/loop"

// MayRun exports mayRun for tests.
var MayRun = mayRun

// Hearing makes a strategy that of a whole run.
func Hearing(s loop.Strategy) loop.Strategy { return hearing{s, judging(s)} }
