package session

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// exactSuffix marks the field that holds, in base64, the exact bytes of a text that is not UTF-8.
// Beside a list it holds all texts of the list.
const exactSuffix = "_base64"

// exact are the exact bytes of texts, or lists of them, by where they are.
type exact map[jsontext.Pointer][][]byte

// marshalExact writes an object in which some text is not UTF-8.
func marshalExact(object any) []byte {
	texts := exact{}
	gather := json.MarshalToFunc(func(w *jsontext.Encoder, v any) error {
		var all [][]byte
		switch v := reflect.Indirect(reflect.ValueOf(v)); {
		case v.Kind() == reflect.String:
			all = [][]byte{[]byte(v.String())}
		case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
			for i := range v.Len() {
				all = append(all, []byte(v.Index(i).String()))
			}
		}
		kind, _ := w.StackIndex(w.StackDepth())
		if kind == '{' && slices.ContainsFunc(all, func(text []byte) bool { return !utf8.Valid(text) }) {
			texts[w.StackPointer()] = all
		}
		return errors.ErrUnsupported // it is written as ever
	})
	line, err := json.Marshal(object, json.WithMarshalers(json.JoinMarshalers(gather, asWritten())), jsontext.AllowInvalidUTF8(true))
	if err == nil {
		line, err = texts.beside(line)
	}
	if err != nil {
		panic(err) // a mistake in a type of this package
	}
	return line
}

// beside writes exact texts beside those of a line.
func (x exact) beside(line []byte) ([]byte, error) {
	var out bytes.Buffer
	in, w := jsontext.NewDecoder(bytes.NewBuffer(line)), jsontext.NewEncoder(&out)
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
		}
		if err != nil {
			return nil, err
		}
		kind := token.Kind()
		if err := w.WriteToken(token); err != nil {
			return nil, err
		}
		at := w.StackPointer()
		_, parts := w.StackIndex(w.StackDepth())
		texts, ok := x[at]
		if !ok || kind == '[' || parts%2 != 0 { // the value follows
			continue
		}
		var value any = texts
		if kind == '"' {
			value = texts[0]
		}
		if err := errors.Join(w.WriteToken(jsontext.String(at.LastToken()+exactSuffix)), json.MarshalEncode(w, value)); err != nil {
			return nil, err
		}
	}
}

// unmarshalExact reads an object in which some text is not UTF-8.
func unmarshalExact(line []byte, object any) error {
	texts, err := exactTexts(line)
	if err != nil {
		return err
	}
	how := json.UnmarshalFromFunc(func(r *jsontext.Decoder, v any) error {
		into, all := reflect.ValueOf(v).Elem(), texts[r.StackPointer()]
		switch {
		case all != nil && into.Kind() == reflect.String:
			into.SetString(string(all[0]))
		case all != nil && into.Kind() == reflect.Slice:
			into.SetZero()
			for _, text := range all {
				into.Set(reflect.Append(into, reflect.ValueOf(string(text)).Convert(into.Type().Elem())))
			}
		default:
			return errors.ErrUnsupported
		}
		return r.SkipValue()
	})
	return json.Unmarshal(line, object, json.WithUnmarshalers(json.JoinUnmarshalers(asRead(), how)), lax())
}

// exactTexts returns the exact texts of a line.
func exactTexts(line []byte) (exact, error) {
	texts := exact{}
	for r := jsontext.NewDecoder(bytes.NewBuffer(line), lax()); ; {
		token, err := r.ReadToken()
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		kind, parts := r.StackIndex(r.StackDepth())
		if kind != '{' || parts%2 == 0 || !strings.HasSuffix(token.String(), exactSuffix) {
			continue
		}
		at := r.StackPointer()
		value, err := r.ReadValue()
		var one []byte
		all := [][]byte{}
		switch {
		case err == nil && value.Kind() == '[':
			err = json.Unmarshal(value, &all)
		case err == nil && value.Kind() == '"':
			err = json.Unmarshal(value, &one)
			all = append(all, one)
		default:
			all = nil
		}
		if err != nil {
			return nil, &json.SemanticError{JSONPointer: at, Err: errNotBase64}
		}
		if all != nil {
			texts[jsontext.Pointer(strings.TrimSuffix(string(at), exactSuffix))] = all
		}
	}
}
