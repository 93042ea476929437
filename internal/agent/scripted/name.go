package scripted

// Name is the agent that plays a scenario instead of asking a model.
const Name = "scripted"

// Command is the command of codeloops that plays it.
const Command = "scripted-agent"
