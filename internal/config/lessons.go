package config

// Lessons say how matching lessons are found.
type Lessons struct {
	EmbeddingsURL    string `key:"embeddings_url"` // "": match words instead
	EmbeddingsModel  string `key:"embeddings_model"`
	EmbeddingsKeyEnv string `key:"embeddings_key_env"` // the variable that holds the key; "": none
}

// lessonsSchema are the keys of lessons. They need trust, because tasks and the key are
// sent to the URL.
func lessonsSchema() schema {
	return schema{
		{key: "lessons.embeddings_url", value: text(orEmpty(webAddress)), byDefault: ""},
		{key: "lessons.embeddings_model", value: text(orEmpty(notBlank)), byDefault: ""},
		{key: "lessons.embeddings_key_env", value: text(orEmpty(globPattern)), byDefault: ""},
	}.guard()
}

// webAddress rejects what is not the URL of an endpoint.
func webAddress(s string) *fault {
	if address("http", s) == nil || address("https", s) == nil {
		return nil
	}
	return &fault{
		problem: "must be the URL of an endpoint, without a password",
		hint:    `write it like "https://api.example.com/v1", and the name of the key's variable in embeddings_key_env`,
	}
}
