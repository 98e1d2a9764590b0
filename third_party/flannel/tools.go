//go:build tools

// Names the program that scripts/supply/plugins.py builds, so that go.mod and go.sum cover what it needs.
package tools

import _ "github.com/containernetworking/plugins/plugins/meta/flannel"
