# Pinned here and not in go.mod: a tool of the project is no dependency of the product.
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
TEST := go test -timeout 10m

.PHONY: help build test check bench chaos protocol-test observe-test compose-test redis

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/submit and bin/worker, static, with the commit as their version
	CGO_ENABLED=0 go build -buildvcs=auto -trimpath -o bin/ ./cmd/submit ./cmd/worker

test: redis ## all tests; installs redis-server where it is missing
	$(TEST) ./...

# Cheapest first. The second run of the tests is for the exhaustive ones, which are built without
# the race detector only: it makes them ten times slower and they share no memory.
check: redis ## what CI checks: format, go.mod, vet for each system, staticcheck, tests twice, chaos -short
	@files=$$(gofmt -l .) && test -z "$$files" || { echo "not gofmt'ed: $$files"; exit 1; }
	go mod tidy -diff
	for os in linux darwin windows; do GOOS=$$os go vet ./... || exit 1; done
	go run $(STATICCHECK) ./...
	$(TEST) -race ./...
	$(TEST) ./...
	go run ./chaos -short

# The first part is what benchstat reads; COUNT=1 is for a look.
COUNT := 6
bench: ## Go benchmarks, COUNT times; then bench/RESULTS.md, beside the usual programs
	go test -run '^$$' -bench . -benchmem -count $(COUNT) ./...
	go run ./bench

chaos: redis ## jobs while workers, NATS, Redis and submit die or fall ill: nothing lost, doubled or wrong; ten minutes
	go run ./chaos

protocol-test: ## the session of docs/protocol.md, with the nats command line
	scripts/protocol-test.sh

observe-test: redis ## configs/prometheus and configs/grafana against a real worker; fetches Debian's prometheus where it is missing
	scripts/observe-test.sh

compose-test: ## docker-compose.yml end to end; needs a Docker engine
	scripts/compose-test.sh

redis:
	@command -v redis-server >/dev/null || scripts/install-redis.sh
