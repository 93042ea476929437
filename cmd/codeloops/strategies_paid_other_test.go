//go:build !linux

package main

import "time"

// hitClock is the clock: runs are hit at a line of their log on Linux alone.
func hitClock() func() time.Time { return time.Now }

// asAsked leaves the scripted agent as it is.
func asAsked(args []string) []string { return args }
