package command

import (
	"codeloops/internal/proc"
	"codeloops/internal/queue/parcel"
)

// Bundles calls do with what packs sessions into files, and takes them up.
func (c *Console) Bundles(do func(*parcel.Room) error) error {
	runner := proc.NewRunner(c.Now)
	defer runner.Close() //nolint:errcheck // it leaves nothing behind
	return parcel.InRoom(runner, c.Environ, do)
}
