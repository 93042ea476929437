#!/bin/sh
# Installs codeloops: downloads the archive of a release, compares it with the checksums of that release, and puts the
# program, its manual pages and its completions below a prefix.
#
#   curl -fsSL https://github.com/OWNER/codeloops/releases/latest/download/install.sh | sh
#
# CODELOOPS_VERSION     the release, such as v1.2.3; default: the latest
# CODELOOPS_PREFIX      where to: bin, share/man and the completions below it; default: ~/.local
# CODELOOPS_BIN         the directory of the program alone, instead of all that
# CODELOOPS_SHA256      the digest that the archive must have besides, as written down earlier
# CODELOOPS_REPOSITORY  the repository with the releases, at CODELOOPS_SERVER
set -eu

repository=${CODELOOPS_REPOSITORY:-OWNER/codeloops}
server=${CODELOOPS_SERVER:-${GITHUB_SERVER_URL:-https://github.com}}

fail() {
	echo "codeloops: $1" >&2
	[ $# -lt 2 ] || echo "hint: $2" >&2
	exit 1
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
MINGW* | MSYS* | CYGWIN*) os=windows ;;
*) fail "there is no release for $(uname -s)" "build it: go build ./cmd/codeloops" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for $(uname -m)" "build it: go build ./cmd/codeloops" ;;
esac

# fetch ADDRESS FILE
fetch() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 3 --proto '=https,http' -o "$2" "$1"
	elif command -v wget >/dev/null 2>&1; then
		wget -q -O "$2" "$1"
	else
		fail "neither curl nor wget is installed"
	fi
}

digest() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d ' ' -f 1
	else
		shasum -a 256 "$1" | cut -d ' ' -f 1
	fi
}

case ${CODELOOPS_VERSION:-latest} in
latest) from=$server/$repository/releases/latest/download ;;
v*) from=$server/$repository/releases/download/$CODELOOPS_VERSION ;;
*) from=$server/$repository/releases/download/v$CODELOOPS_VERSION ;;
esac
ending=tar.gz
[ "$os" != windows ] || ending=zip
archive=codeloops_${os}_$arch.$ending

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fetch "$from/checksums.txt" "$dir/checksums.txt" || fail "the checksums of the release cannot be fetched from $from" "is the version right?"
fetch "$from/$archive" "$dir/$archive" || fail "$archive cannot be fetched from $from"

want=$(awk -v name="$archive" '$2 == name { print $1 }' "$dir/checksums.txt")
have=$(digest "$dir/$archive")
[ -n "$want" ] || fail "the checksums of the release do not name $archive"
[ "$want" = "$have" ] || fail "$archive is not what the release says: its SHA-256 is $have, not $want" "try again; if it stays so, do not use it"
if [ -n "${CODELOOPS_SHA256:-}" ] && [ "$CODELOOPS_SHA256" != "$have" ]; then
	fail "$archive has the SHA-256 $have, not $CODELOOPS_SHA256, which was asked for"
fi

if [ "$ending" = zip ]; then
	unzip -q "$dir/$archive" -d "$dir"
	program=codeloops.exe
else
	tar -xzf "$dir/$archive" -C "$dir"
	program=codeloops
fi

# put FILE DIRECTORY NAME MODE: a program that runs is replaced, and never half written.
put() {
	mkdir -p "$2"
	cp "$1" "$2/.$3.new"
	chmod "$4" "$2/.$3.new"
	mv -f "$2/.$3.new" "$2/$3"
}

if [ -n "${CODELOOPS_BIN:-}" ]; then
	bin=$CODELOOPS_BIN
else
	prefix=${CODELOOPS_PREFIX:-$HOME/.local}
	bin=$prefix/bin
	for page in "$dir"/man/*.1; do
		put "$page" "$prefix/share/man/man1" "$(basename "$page")" 644
	done
	put "$dir/completions/codeloops.bash" "$prefix/share/bash-completion/completions" codeloops 644
	put "$dir/completions/_codeloops" "$prefix/share/zsh/site-functions" _codeloops 644
	put "$dir/completions/codeloops.fish" "$prefix/share/fish/vendor_completions.d" codeloops.fish 644
fi
put "$dir/$program" "$bin" "$program" 755
echo "installed $("$bin/$program" version) in $bin"
case :$PATH: in
*:"$bin":*) ;;
*) [ -n "${CODELOOPS_BIN:-}" ] || echo "$bin is not on your PATH" ;;
esac
