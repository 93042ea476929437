# Two commands do everything on a machine with Go and git:
#   make demo   the main job, on the built-in scripted agent
#   make test   the tests
GO     ?= go
BIN    := bin/codeloops
LINT   := $(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

export CGO_ENABLED ?= 0

# Git waits for no disk in tests. Power cuts have tests that look at what was synced.
export GIT_TEST_FSYNC = 0

.PHONY: build demo install test test-long lies users soak study lint fuzz fuzz-diff golden recording packages bench bench-agents bench-diff bench-page bench-queue bench-sessions e2e cross clean

build:
	$(GO) build -trimpath -ldflags '-s -w' -o $(BIN) ./cmd/codeloops

demo: build
	$(BIN) demo

# The program and its manual pages, below PREFIX.
PREFIX ?= $(HOME)/.local
install: build
	mkdir -p "$(DESTDIR)$(PREFIX)/bin"
	cp $(BIN) "$(DESTDIR)$(PREFIX)/bin/codeloops"
	$(BIN) man --dir "$(DESTDIR)$(PREFIX)/share/man/man1"

# The tests, in short. RACE=1 adds the race detector for the packages in RACED, where goroutines
# share something; RACE=all for all of them, which takes three times as long. It needs a C compiler:
# where there is none they are played without it. Many tests wait for something: so four packages
# at once, on however few processors. Those that play whole programs take longest by far, and go
# first. The linters vet.
LONGEST := ./internal/diff ./cmd/codeloops
RACED   := $(addprefix ./internal/,agent/... cli/... lesson loop/... proc/... run/... screen/... session session/lookup \
	session/replay session/standing strategy/... view queue/board queue/hub queue/play queue/work)
SHORT   := -short -shuffle=on -p 4 -parallel 4 -timeout 60m -vet=off -ldflags=-w
race    := $(if $(RACE),$(if $(shell command -v $(CC) 2>/dev/null),-race,$(warning no C compiler found: testing without the race detector)))
raced   := $(if $(race),$(if $(filter all,$(RACE)),./...,$(RACED)))
rest     = $$($(GO) list ./... | grep -vxF "$$($(GO) list $(LONGEST) $(raced))")
test:
	$(if $(filter ./...,$(raced)),,$(GO) test $(SHORT) $(LONGEST) $(rest))
	$(if $(raced),CGO_ENABLED=1 $(GO) test $(SHORT) $(race) $(raced))

# The long tests, chosen by name: series of random histories and of kills at any moment, and
# outputs of many megabytes. `make test` plays a few of them or none.
test-long:
	$(GO) test -shuffle=on -parallel 4 -timeout 60m -run 'Random|Traps|Anywhere|PaidOnce|WhileWriting|MemoryIsFlat|Overlay|Ends|Huge|Large|Long|Probe|Torn' ./...

# Attempts to get bad work accepted as DONE, each with an honest twin
# (testdata/lies): all of them, or those that RUN names.
lies: build
	CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test -count=1 -parallel 4 -timeout 60m -run 'TestLies/$(RUN)' ./internal/e2e/scenarios

# Actions of users during a run (testdata/users): all of them, or those that RUN names.
users: build
	CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test -count=1 -parallel 4 -timeout 60m -run 'TestUsers/$(RUN)' ./internal/e2e/scenarios

# The queue under load: workers and hubs that are killed or stopped, turns of many leases,
# conflicts. All of them, or those that RUN names; test-long plays short forms. HUB=nats uses a
# nats-server with TLS and keys, HUB=apart gives workers their own homes, HUB=nats-apart both.
soak:
	QUEUE_SOAK=1 QUEUE_HUB=$(HUB) $(GO) test -count=1 -parallel 1 -timeout 1h -run 'TestQueueLong$(RUN)' -v ./cmd/codeloops

# What each part of codeloops buys (docs/eval.md): 300 changes under each setting, some minutes.
study:
	$(GO) test -count=1 -timeout 60m ./internal/eval/study -update

lint: cross
	$(LINT) run --allow-serial-runners ./...
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 .github/workflows/*.yml docs/examples/github/*.yml
	$(if $(shell command -v shellcheck),shellcheck install.sh packaging/*.sh)

# All packages of a release, each of them installed in a directory of its own and run; the image, where docker or buildah is.
# It takes some minutes, as it builds for six systems: on every change that CI of its own sees, and before a release.
packages:
	CODELOOPS_IMAGE=none $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.4 release --snapshot --clean --skip=publish,docker
	sh packaging/try.sh dist

# Every fuzz target for a short while.
FUZZTIME ?= 20s
fuzz:
	@$(GO) list -f '{{.Dir}} {{.ImportPath}}' ./... | while read -r dir pkg; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$dir/*_test.go 2>/dev/null | cut -c6-); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg || exit 1; \
		done; \
	done

# Random histories against git, many of them.
FUZZDIFF ?= 2000
fuzz-diff:
	CODELOOPS_FUZZ_DIFF=$(FUZZDIFF) $(GO) test -count=1 -timeout 2h -run Random -v ./internal/diff

# Golden files, written anew: look at the difference before you commit it.
golden:
	$(GO) test ./internal/actor ./internal/agent/... ./internal/config ./internal/critic/... ./internal/screen/render ./internal/session -update
	UPDATE_SCRIPTS=1 $(GO) test ./cmd/codeloops -run "TestScripts|TestReference"
	$(GO) test ./cmd/codeloops -run TestPagePictures -update

# The pictures in the documentation: the demonstration on a terminal, and the page, as they look today. PICTURES=DIR writes every
# state of the page there instead, at three widths, dark and light, for people to look at.
recording:
	RECORDING=1 $(GO) test -count=1 ./cmd/codeloops -run "$(if $(PICTURES),,TestRecording|)TestPagePictures"

# Whole processes: start-up, a round, memory.
bench: build
	CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test ./cmd/codeloops -run '^$$' -bench . -benchtime 20x -count 3

# What codeloops itself costs beside its agents: processor time, memory, delay.
bench-agents: build
	E2E_FIGURES=1 CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test -count=1 -timeout 30m -run TestFigures -v ./internal/e2e

# Captures as a run pays for them, beside git, on synthetic repositories or a clone of
# REPO. It takes some minutes.
ROUNDS ?= 10
bench-diff: build
	CODELOOPS_BIN=$(abspath $(BIN)) CODELOOPS_BENCH_DIFF=$(ROUNDS) CODELOOPS_BENCH_REPO=$(if $(REPO),$(abspath $(REPO))) \
		$(GO) test -count=1 -timeout 1h -run TestBench -v ./internal/diff/bench

# The page: from a line of a log to the screen, 50 pages on a run, a start with 10,000 sessions, a log of 1 GB.
bench-page: build
	PAGE_FIGURES=1 CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test -count=1 -timeout 30m -run 'TestPage(Figures|Large)' -v ./cmd/codeloops

# The queue: from queue add to the agent, four workers, an idle hub, 10,000 tasks.
bench-queue: build
	QUEUE_FIGURES=1 CODELOOPS_BIN=$(abspath $(BIN)) $(GO) test -count=1 -timeout 1h -run TestQueueFigures -v ./cmd/codeloops

# The real agents, on scripted models: all of them, or E2E_AGENTS="claude codex".
# They are installed with npm, in the user's cache directory or E2E_CACHE. It
# takes most of an hour, half of which is waiting; RUN=TestLoop is the shortest
# that says something.
E2E_AGENTS ?= all
RUN        ?= .
PARALLEL   ?= 4
e2e: build
	E2E_AGENTS="$(E2E_AGENTS)" CODELOOPS_BIN=$(abspath $(BIN)) \
		$(GO) test -count=1 -timeout 2h -parallel $(PARALLEL) -run '$(RUN)' -v ./internal/e2e

# Commands on 10,000 session logs of 1 GB, and on a single one of 1 GB. They are
# made below SESSIONS, where they stay: 3 GB.
SESSIONS ?= /tmp/codeloops-bench-sessions
bench-sessions: build
	CODELOOPS_BIN=$(abspath $(BIN)) CODELOOPS_BENCH_SESSIONS=$(SESSIONS) \
		$(GO) test -count=1 -timeout 1h -run TestBenchSessions -v ./cmd/codeloops

# The other systems build and vet.
cross:
	GOOS=darwin $(GO) build -o /dev/null ./cmd/codeloops
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) build -o /dev/null ./cmd/codeloops
	GOOS=windows $(GO) vet ./...

clean:
	rm -rf bin
