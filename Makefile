# Copyright The berth Authors.
# SPDX-License-Identifier: Apache-2.0

SHELL       := /usr/bin/env bash -euo pipefail
.DEFAULT_GOAL := build

TOOLS   := bin/tools
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X github.com/berth-run/berth/internal/version.Version=$(VERSION)
GO_TEST := go test

# The Go modules whose commands the build needs, each apart from the product's.
TOOL_MODULES := buf protoc lint grpcurl kubectl kubectl132

# What the tests drive the server with.
TEST_TOOLS := tools-grpcurl tools-kubectl tools-kubectl132

.PHONY: help
help: ## Show the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/berth
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/berth ./cmd/berth

.PHONY: runtime
runtime: ## Build the node runtime (containerd, runc, CNI, crictl, pause) into bin/runtime
	hack/runtime.sh

.PHONY: demo
demo: build runtime ## Run a server and two nodes here, and a pod on them
	hack/demo.sh up

.PHONY: demo-down
demo-down: build ## End the demo and remove all that it made
	hack/demo.sh down

.PHONY: test
test: build runtime $(TEST_TOOLS) ## Run all tests, those on the real runtime included
	hack/test-requirements.sh
	$(GO_TEST) -race -timeout 10m $$(go list ./... | grep -v /test/)
	$(GO_TEST) -timeout 15m -count=1 -p 1 ./test/...

.PHONY: soak
soak: build runtime $(TEST_TOOLS) ## Run the tests that take long, in full length
	hack/test-requirements.sh
	BERTH_SOAK=1 $(GO_TEST) -timeout 3h -count=1 -p 1 ./store/... ./test/...

FUZZ := api:FuzzParseSelector server/rest:FuzzHandler server/rest:FuzzPatch server/rest:FuzzContinue

.PHONY: fuzz
fuzz: ## Fuzz the API for ten minutes
	for t in $(FUZZ); do $(GO_TEST) -run '^$$' -fuzz "^$${t#*:}$$" -fuzztime 150s ./$${t%:*}; done

.PHONY: bench
bench: build runtime ## Print berth's figures beside those of what is below it, in one run
	$(GO_TEST) -run '^$$' -bench CreateThroughREST ./server/rest
	$(GO_TEST) -run '^$$' -bench API -benchtime 10x -timeout 30m ./test/bench
	$(GO_TEST) -run '^$$' -bench Pod -benchtime 20x -timeout 30m ./test/bench

.PHONY: lint
lint: tools-lint proto-check ## Check format, vet and staticcheck, and that generated code is current
	@test -z "$$(gofmt -l $$(git ls-files '*.go') | tee /dev/stderr)"
	go vet ./...
	$(TOOLS)/staticcheck ./...

.PHONY: proto
proto: tools-buf tools-protoc ## Generate the .proto files and the code from them
	go run ./internal/protogen proto
	$(TOOLS)/buf format -w
	$(TOOLS)/buf generate

.PHONY: proto-check
proto-check: proto
	git diff --exit-code -- proto

.PHONY: $(addprefix tools-,$(TOOL_MODULES))
$(addprefix tools-,$(TOOL_MODULES)): tools-%:
	@mkdir -p $(TOOLS)
	@cd tools/$* && go build -trimpath -ldflags '-s -w $(TOOL_LDFLAGS)' -o ../../$(TOOLS)/ tool

# A kubectl compares its version with the server's.
tools-kubectl tools-kubectl132: TOOL_LDFLAGS = -X k8s.io/component-base/version.gitVersion=$(patsubst \
	v0.%,v1.%,$(shell cd tools/$* && go list -m -f '{{.Version}}' k8s.io/kubectl))

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin
