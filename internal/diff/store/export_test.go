package store

// Attempts is how often an object is read, or written, that goes away meanwhile.
const Attempts = attempts
