// Package model plays the services of language models, with answers from a
// script.
//
// It speaks what the agents speak: Anthropic's Messages, OpenAI's Responses and
// Chat Completions, Gemini's generateContent, each streamed or in one piece. A
// [Script] decides what is answered; it sees every request in the same form
// ([Request]) and answers with words, the use of a tool, or a [Fault]. Every
// answer costs the same tokens, see [Usage].
//
// The formats are those of the services' public API references; what is left
// out here no agent has been seen to ask for.
package model
