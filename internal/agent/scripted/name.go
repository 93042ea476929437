package scripted

// Name is the name of the agent that plays a scenario instead of asking a model.
const Name = "scripted"

// Command is the codeloops command that runs it.
const Command = "scripted-agent"
