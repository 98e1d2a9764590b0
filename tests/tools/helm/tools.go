//go:build tools

// Names the program that scripts/supply/go-tool builds, so that go.mod and go.sum cover what it needs.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
