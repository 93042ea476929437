package main

import (
	"os"
	"time"

	"codeloops/internal/queue/board"
)

// queueLease is the variable that shortens the leases of a queue when the test binary acts as
// codeloops.
const queueLease = "QUEUE_LEASE"

// leases returns the queue's leases.
func leases() board.Options {
	lease, err := time.ParseDuration(os.Getenv(queueLease))
	if err != nil {
		return board.Options{} // not set
	}
	return board.Options{AckWait: lease, Beat: lease / 3}
}
