//go:build tools

// Names the program that scripts/supply/cluster-binaries builds, so that go.mod and go.sum cover what it needs.
package tools

import _ "go.etcd.io/etcd/server/v3"
