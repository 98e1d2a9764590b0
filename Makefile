# The front door. Each target installs what it needs (root, Debian 12; once) and hands over to a script in scripts/.
# `make` alone shows what there is.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.PHONY: help release try-packages try-chart try-workflow try-kubernetes try-arm64 try-cgroup2 demo test quick e2e look-at-report bench bench-fleet api-faults soak lint vectors programs image packages format fuzz readers tsan coverage peer cluster-up cluster-down clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

demo:  ## build, start the daemon on a folder of manifests, give pods their networks, plug one in, remove everything
	@scripts/install-packages build test
	@scripts/build release programs
	@scripts/demo

test:  ## every test and check; the last line is the sum
	@scripts/install-packages build test
	@scripts/run-tests

quick:  ## what to run before a commit: format, layers, unit tests, vectors
	@scripts/install-packages build test
	@scripts/run-tests format layers unit vectors

e2e:  ## a whole node of real parts, our image and manifest, pods by kubectl; MANIFEST and IMAGE_TAR name others to try
	@scripts/install-packages build test image
	@scripts/build release programs
	@scripts/e2e

look-at-report:  ## PAGE=file of `multusctl report` in a headless browser: light, dark and narrow; e2e leaves build/logs/report.html
	@scripts/install-packages browser
	@scripts/look-at-report $(PAGE)

bench:  ## measure against the budgets; PEER_SHIM and PEER_DAEMON name another implementation's programs
	@scripts/install-packages build test
	@scripts/build release programs bench_programs
	@scripts/bench

bench-fleet:  ## what N="1 50 200" nodes cost one API server (docs/scale.md); PEER_DAEMON names the original's daemon
	@scripts/install-packages build test
	@scripts/build release programs fake-delegate
	@scripts/bench-fleet $(if $(N),--nodes $(N))

lint:  ## clang-tidy on whatever changed since it was last clean
	@scripts/install-packages build test lint
	@scripts/lint

vectors:  ## the conformance vectors; MULTUS_VECTORS names another folder of them
	@scripts/install-packages build
	@mkdir -p build
	@scripts/build asan vectors >build/vectors.log 2>&1 || { cat build/vectors.log; exit 1; }
	@build/asan/tools/vectors

programs:  ## the release build: every program as build/release/bin/<name>; ARCH=arm64: build/arm64/bin/<name>, by a cross build
	@scripts/install-packages build $(if $(filter arm64,$(ARCH)),cross)
	@scripts/build $(if $(filter arm64,$(ARCH)),arm64,release) programs

release:  ## dist/: images, packages, tarballs, chart, manifests for ARCHS="amd64 arm64"; MINISIGN_KEY names a key to sign with
	@scripts/release --check
	@scripts/install-packages build image cross
	@set -e; for arch in $(or $(ARCHS),amd64 arm64); do $(MAKE) programs ARCH=$$arch; done
	@scripts/release $(foreach arch,$(ARCHS),--arch $(arch))

image:  ## container images in build/image/, without a container daemon; IMAGE_NAME says what stands before the colon
	@scripts/install-packages build image
	@scripts/build release programs
	@IMAGE_NAME=$(IMAGE_NAME) scripts/image

packages:  ## install the Debian packages that all of this needs
	@scripts/install-packages

format:  ## lay out the C++ as .clang-format says
	@scripts/install-packages test
	@git ls-files -z '*.cc' '*.h' | xargs -0 clang-format-19 -i

fuzz:  ## ten minutes of every fuzz target (SECONDS=n for another time)
	@scripts/install-packages build
	@scripts/build asan fuzz_programs
	@scripts/fuzz --seconds $(or $(SECONDS),600)

api-faults:  ## MINUTES=30 of random faults of the API server under load; SEED=n for the same ones again
	@scripts/install-packages build test
	@scripts/build release programs stepped-clock
	@scripts/api-faults --minutes $(or $(MINUTES),30) $(if $(SEED),--seed $(SEED))

soak:  ## OPERATIONS=20000 at random with faults, on a node of its own; SEED=n for the same ones again, SEEDS=n for several, NODES=n side by side
	@scripts/install-packages build test
	@scripts/build release programs stepped-clock ledger-delegate
	@scripts/soak $(if $(OPERATIONS),--operations $(OPERATIONS)) $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(NODES),--nodes $(NODES)) \
	  $(if $(MINUTES),--minutes $(MINUTES))

readers:  ## ten minutes of comparing our parsers with Go's (SECONDS=n for another time, for each of seven kinds)
	@scripts/install-packages build
	@scripts/build asan readers
	@scripts/readers --seconds $(or $(SECONDS),85)

tsan:  ## the unit tests under the thread sanitizer
	@scripts/install-packages build test
	@scripts/build tsan test_programs
	@ctest --test-dir build/tsan --output-on-failure --no-tests=error -j $$(nproc)

coverage:  ## lines and branches of src/ that tests run, by folder; SUITES="unit node cluster" unless others are named
	@scripts/install-packages build test
	@scripts/build coverage programs test_programs
	@scripts/coverage $(SUITES)

try-packages:  ## dist/ on a fresh Debian 12: packages and tarball installed, used and purged; `make release` comes first
	@scripts/install-packages test cross
	@/usr/bin/python3 -m pytest -c tests/pytest.ini -q -p no:cacheprovider tests/packages/test_packages.py

try-chart:  ## the Helm chart against the manifests, with the real helm
	@scripts/install-packages test cross
	@/usr/bin/python3 -m pytest -c tests/pytest.ini -q -p no:cacheprovider tests/packages/test_chart.py

try-workflow:  ## actionlint on the workflow file
	@$$(scripts/supply/go-tool actionlint) .github/workflows/*.yml

try-arm64:  ## unit tests and vectors that start no other program, cross-built for arm64, under qemu-user
	@scripts/install-packages build cross
	@scripts/try-arm64 $(PROGRAMS)

try-cgroup2:  ## delegates' memory with control groups of version 2, on a kernel that runs as a process (user-mode Linux)
	@scripts/install-packages build test kernel
	@scripts/build release programs fake-delegate
	@scripts/try-cgroup2

CLUSTER_PARTS = etcd kube-apiserver kube-controller-manager kubectl kube-scheduler kubelet kube-proxy
try-kubernetes:  ## cluster tests and the short ones on a whole node, with Kubernetes MINOR=1.32 or 1.36, which is built once
	@scripts/install-packages build test image
	@scripts/build release programs fake-delegate ledger-delegate stepped-clock cnitool kube-probe jsonpath-probe
	@MNET_KUBERNETES=$(MINOR) scripts/supply/cluster-binaries $(CLUSTER_PARTS)
	@MNET_KUBERNETES=$(MINOR) MNET_BIN=$(CURDIR)/build/release/bin /usr/bin/python3 -m pytest -c tests/pytest.ini -q -p no:cacheprovider \
	  --ignore-glob='*/test_peer*.py' -n 3 tests/cluster
	@MNET_KUBERNETES=$(MINOR) MNET_BIN=$(CURDIR)/build/release/bin /usr/bin/python3 -m pytest -c tests/pytest.ini -q -p no:cacheprovider \
	  -m short tests/node_e2e

peer:  ## build the original's programs, outside the tree; prints the PEER_ lines that tests and make bench take
	@scripts/peer

cluster-up:  ## a Kubernetes control plane on loopback to play with; prints the KUBECONFIG line
	@scripts/install-packages test
	@scripts/cluster up

cluster-down:  ## stop it again; nothing is left
	@scripts/cluster down

clean:  ## remove build/
	@rm -rf build
