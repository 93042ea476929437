#!/bin/sh
# The manual pages and completions of a release, in build.
set -eu
rm -rf build
mkdir -p build/completions build/bin
CGO_ENABLED=0 GOOS='' GOARCH='' go build -trimpath -ldflags '-s -w' -o build/bin/codeloops ./cmd/codeloops
build/bin/codeloops man --dir build/man
for page in build/man/*.1; do gzip -9nk "$page"; done
build/bin/codeloops completion bash >build/completions/codeloops.bash
build/bin/codeloops completion zsh >build/completions/_codeloops
build/bin/codeloops completion fish >build/completions/codeloops.fish
