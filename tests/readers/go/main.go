// Reads what Multus reads with Go's packages and the original's own structures, and tells how: the other side of
// tests/readers/main.cc. A request is one byte for the kind, four for the length (big-endian), and the bytes. The answer is
// four bytes for the length and a text: '+' and the reading as JSON with sorted keys, or '-' and why it was refused. Before that, '~'
// says that a key is repeated; else there is a '='.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"gopkg.in/k8snetworkplumbingwg/multus-cni.v4/pkg/logging"
)

// Members of a reading that are empty are left out by both sides, so that `omitempty` makes no difference.
type reading map[string]any

var readers = map[byte]func([]byte) (any, error){
	'a': readNetworks,
	'c': readRequest,
	'd': readDelegate,
	'j': readAny,
	'm': readDaemonConfig,
	'n': readNetConf,
	'r': readResult,
	's': readChain,
}

func readAny(text []byte) (any, error) {
	if !json.Valid(text) {
		return nil, fmt.Errorf("not valid JSON")
	}
	return exact(text)
}

// The document with its numbers as they were written.
func exact(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// The JSON of a structure as a generic value: Marshal then sorts its keys.
func generic(value any) (any, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return exact(text)
}

func answer(kind byte, text []byte) (said []byte) {
	defer func() {
		if panicked := recover(); panicked != nil {
			said = []byte(fmt.Sprintf("-panic: %v", panicked))
		}
	}()
	value, err := readers[kind](text)
	if err != nil {
		return []byte("-" + err.Error())
	}
	out, err := json.Marshal(value)
	if err != nil {
		return []byte("-" + err.Error())
	}
	return append([]byte("+"), out...)
}

func serve(in *bufio.Reader, out *bufio.Writer) error {
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(in, head); err != nil {
			return err
		}
		text := make([]byte, binary.BigEndian.Uint32(head[1:]))
		if _, err := io.ReadFull(in, text); err != nil {
			return err
		}
		mark := byte('=')
		if head[0] != 'c' && repeatsKey(text) {
			mark = '~'
		}
		said := append([]byte{mark}, answer(head[0], text)...)
		binary.Write(out, binary.BigEndian, uint32(len(said)))
		out.Write(said)
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func main() {
	logging.SetLogStderr(false)
	if err := serve(bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)); err != io.EOF {
		fmt.Fprintln(os.Stderr, "reader:", err)
		os.Exit(1)
	}
}
