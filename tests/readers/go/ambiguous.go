package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Whether an object has a key twice, in any letter case, and not only with texts, only with numbers or only with booleans: such
// values are merged, or depend on each other, when they are read into a structure.
func isAmbiguous(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	found := false
	if json.Valid(text) {
		walk(decoder, &found)
	}
	return found
}

// Reads one value; gives the kind of a scalar, and 0 for null, lists and objects.
func walk(decoder *json.Decoder, found *bool) byte {
	token, _ := decoder.Token()
	switch value := token.(type) {
	case string:
		return 's'
	case json.Number:
		return 'n'
	case bool:
		return 'b'
	case json.Delim:
		kinds := map[string]byte{}
		for decoder.More() {
			if value == '[' {
				walk(decoder, found)
				continue
			}
			key, _ := decoder.Token()
			name := fold(key.(string))
			kind := walk(decoder, found)
			if earlier, is := kinds[name]; is && (kind == 0 || kind != earlier) {
				*found = true
			}
			kinds[name] = kind
		}
		decoder.Token()
	}
	return 0
}

func fold(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, key)
}
