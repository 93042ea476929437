// Package model imitates the services of language models, with answers from a script.
//
// It implements the protocols that the agents use: Anthropic's Messages, OpenAI's
// Responses and Chat Completions, and Gemini's generateContent, each streamed or in one
// piece. A [Script] gets every request in the same form ([Request]) and answers with text,
// a tool call, or a [Fault]. Every answer uses the same number of tokens.
//
// The formats follow the services' public API references, without the parts that no agent
// has been seen to use.
package model
