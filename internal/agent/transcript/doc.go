// Package transcript reads the structured output of coding-agent CLIs.
//
// A [Decoder] takes the output in pieces of any size and returns a [Report] at the end.
// While it reads, it tells a [loop.Watch] what the agent does. Every format is JSON, one
// object a line. A dialect knows the events of one format; the record holds what all
// dialects have in common.
//
// The input is not trusted. Unknown events are ignored, fields of an unexpected type read
// as missing, and memory does not grow with the output: a line longer than 8 MiB is
// abridged and, if that does not make it short enough, only its type is read.
package transcript
