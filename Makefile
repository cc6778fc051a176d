# What CI runs is .ci/run; these are its parts, for the desk.
GO ?= go
FUZZTIME ?= 200000x
tools = $(GO) tool -modfile=.ci/tools/go.mod

.PHONY: run test race fuzz lint bench tidy-check examples

run:
	$(GO) run ./cmd/guardrails-provider serve

test:
	$(GO) test ./...

race:
	$(GO) test -race ./...

# Every fuzz target, from within its package, FUZZTIME each (inputs such as 200000x, or a time such as 10m).
fuzz:
	bash .ci/fuzz $(FUZZTIME)

lint:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(tools) staticcheck ./...

# Speed, each figure beside a raw NATS echo of the same run.
bench:
	$(GO) test -run '^$$' -bench . ./policy ./protocol ./bus

tidy-check:
	$(GO) mod tidy -diff
	cd .ci/tools && $(GO) mod tidy -diff

examples:
	bash examples/run.sh
