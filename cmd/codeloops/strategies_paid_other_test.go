//go:build !linux

package main

import "time"

// hitClock returns the normal clock: only on Linux are runs hit at a line of their log.
func hitClock() func() time.Time { return time.Now }

// scriptedArgs returns the scripted agent unchanged.
func scriptedArgs(args []string) []string { return args }
