package main

import (
	"os"
	"time"

	"codeloops/internal/queue/board"
)

// queueLease is the variable that makes the leases of a queue shorter, in a test binary that plays
// codeloops.
const queueLease = "QUEUE_LEASE"

// leases are those of the queue.
func leases() board.Options {
	lease, err := time.ParseDuration(os.Getenv(queueLease))
	if err != nil {
		return board.Options{} // it is not set
	}
	return board.Options{AckWait: lease, Beat: lease / 3}
}
