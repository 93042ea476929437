package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"codeloops/internal/proc"
	"codeloops/internal/wording"
	"codeloops/internal/wording/hint"
)

// An Envelope holds a statement with its signatures (https://github.com/secure-systems-lab/dsse). A signature is that of
// `ssh-keygen -Y sign` over the envelope's pre-authentication encoding, in the namespace [Namespace].
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     []byte      `json:"payload"`
	Signatures  []Signature `json:"signatures"`
}

// A Signature is one of a key, which KeyID names for people.
type Signature struct {
	KeyID string `json:"keyid"`
	Sig   []byte `json:"sig"` // an armored SSH signature
}

const (
	payloadType = "application/vnd.in-toto+json"
	// Namespace keeps signatures of other purposes, such as those of git, from counting here.
	Namespace = "codeloops-attest"
)

// A Key is an SSH key in a file; "": there is none. ssh-keygen may ask for its passphrase.
type Key struct {
	File string
	In   io.Reader
	Err  io.Writer
}

// Seal puts a statement into an envelope, signed with a key if there is one.
func Seal(ctx context.Context, s Statement, key Key, environ []string) (Envelope, error) {
	e := Envelope{PayloadType: payloadType, Signatures: []Signature{}}
	var err error
	if e.Payload, err = json.Marshal(s); err != nil || key.File == "" {
		return e, err
	}
	dir, err := os.MkdirTemp("", "codeloops-sign-")
	if err != nil {
		return e, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	file := filepath.Join(dir, "statement")
	if err := os.WriteFile(file, e.encoding(), 0o600); err != nil {
		return e, err
	}
	tool := proc.Tool{Argv: []string{"ssh-keygen", "-q", "-Y", "sign", "-f", key.File, "-n", Namespace, file}, Stdin: key.In, Stderr: key.Err}
	code, err := tool.Run(ctx)
	sig, lost := os.ReadFile(file + ".sig")
	if err = errors.Join(err, lost); code != 0 || err != nil {
		return e, hint.Errorf("name another key: --key FILE; or write it unsigned: --unsigned", "the statement could not be signed with %s (exit code %d of ssh-keygen)", key.File, code)
	}
	out, err := keygen(ctx, environ, e.encoding(), "check-novalidate", "-n", Namespace, "-s", file+".sig")
	if err != nil {
		return e, err
	}
	e.Signatures = append(e.Signatures, Signature{fingerprint(out), sig})
	return e, nil
}

// encoding is what is signed.
func (e Envelope) encoding() []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(e.PayloadType), e.PayloadType, len(e.Payload), e.Payload)
}

// Open reads an envelope, and the statement in it, whoever signed it.
func Open(text []byte) (e Envelope, s Statement, err error) {
	if err = json.Unmarshal(text, &e); err != nil || e.PayloadType == "" {
		return e, s, errors.New("it is no envelope of a statement (DSSE)")
	}
	if e.PayloadType != payloadType {
		return e, s, fmt.Errorf("its content is %s, and no in-toto statement", wording.Quote(e.PayloadType, 80))
	}
	if err = json.Unmarshal(e.Payload, &s); err != nil || s.Type != StatementType {
		return e, s, errors.New("its content is no in-toto statement")
	}
	if s.PredicateType != PredicateType {
		return e, s, fmt.Errorf("it is a statement of another kind: %s", wording.Quote(s.PredicateType, 80))
	}
	return e, s, nil
}

// signer returns who has signed an envelope, as a file of allowed signers names them (ssh-keygen(1), ALLOWED SIGNERS).
func (e Envelope) signer(ctx context.Context, allowed string, environ []string) (who string, err error) {
	if len(e.Signatures) == 0 {
		return "", errors.New("it is not signed")
	}
	dir, err := os.MkdirTemp("", "codeloops-verify-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	file := filepath.Join(dir, "sig")
	for _, one := range e.Signatures {
		if err := os.WriteFile(file, one.Sig, 0o600); err != nil {
			return "", err
		}
		out, bad := keygen(ctx, environ, e.encoding(), "check-novalidate", "-n", Namespace, "-s", file)
		if bad != nil {
			err = errors.New("its signature is not one of this content: it was changed, or signed for something else")
			continue
		}
		key := fingerprint(out)
		if allowed == "" {
			err = fmt.Errorf("it is signed with %s, and there is no file that says whose keys count", key)
			continue
		}
		names, bad := keygen(ctx, environ, nil, "find-principals", "-f", allowed, "-s", file)
		name, _, _ := strings.Cut(strings.TrimSpace(names), "\n")
		if bad != nil || name == "" {
			err = fmt.Errorf("it is signed with %s, which %s does not name", key, allowed)
			continue
		}
		if _, bad := keygen(ctx, environ, e.encoding(), "verify", "-f", allowed, "-I", name, "-n", Namespace, "-s", file); bad != nil {
			err = fmt.Errorf("it is signed with %s, whose signatures do not count in %s: %w", key, allowed, bad)
			continue
		}
		return name + " (" + key + ")", nil
	}
	return "", err
}

// keygen runs ssh-keygen.
func keygen(ctx context.Context, environ []string, stdin []byte, args ...string) (string, error) {
	out, err := proc.Output(ctx, proc.Call{Invocation: proc.Invocation{Argv: append([]string{"ssh-keygen", "-Y"}, args...), Dir: os.TempDir(), Env: environ, Stdin: stdin}})
	return string(out), err
}

// fingerprint finds the key's fingerprint in what ssh-keygen says.
func fingerprint(said string) string {
	for word := range strings.FieldsSeq(said) {
		if strings.HasPrefix(word, "SHA256:") {
			return word
		}
	}
	return "an unknown key"
}

// Lines is the envelope as a file.
func (e Envelope) Lines() []byte {
	text, _ := json.MarshalIndent(e, "", "  ") // it has nothing that cannot be encoded
	return append(text, '\n')
}
