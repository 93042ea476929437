// Package transcript reads what coding-agent CLIs print in their structured
// formats.
//
// A [Decoder] is fed with the output as it grows, in pieces of any size, or
// with all of it afterwards: the [Report] is the same. While it reads it
// tells a [loop.Watch] what the agent does, one line each. Every format is
// JSON, one object a line; what a format calls its events is known to one
// dialect each, what all have in common to the record they write.
//
// The input is not trusted. Events that are not known pass, fields of another
// type read as missing, and memory does not grow with the output: of a line
// longer than 8 MiB only its type is looked at.
package transcript
