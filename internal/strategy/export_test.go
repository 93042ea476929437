package strategy

// MayRun is mayRun.
var MayRun = mayRun
