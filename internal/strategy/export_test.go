package strategy

// MayRun exports mayRun for tests.
var MayRun = mayRun
