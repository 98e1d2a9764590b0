package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"
)

// Whether an object has a key twice, in any letter case. What that means depends on what the text is read into: structures and
// maps are merged, other values replace each other, and some are kept when null follows.
func repeatsKey(text []byte) bool {
	found := false
	if json.Valid(text) {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		walk(decoder, &found)
	}
	return found
}

// Reads one value.
func walk(decoder *json.Decoder, found *bool) {
	token, _ := decoder.Token()
	opened, _ := token.(json.Delim)
	if opened == 0 {
		return
	}
	seen := map[string]bool{}
	for decoder.More() {
		if opened == '{' {
			key, _ := decoder.Token()
			name := fold(key.(string))
			*found = *found || seen[name]
			seen[name] = true
		}
		walk(decoder, found)
	}
	decoder.Token()
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
