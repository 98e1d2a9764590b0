//go:build tools

// Names the program that scripts/supply/go-tool builds, so that go.mod and go.sum cover what it needs.
package tools

import _ "github.com/rhysd/actionlint/cmd/actionlint"
