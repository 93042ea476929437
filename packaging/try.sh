#!/bin/sh
# Installs each package of a snapshot for this system in a directory of its own, and runs what it has installed.
#
#   sh packaging/try.sh DIST
#
# What no tool is there for is named, and not tried.
set -eu
dist=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) echo "no packages for $(uname -m)" && exit 1 ;; esac
export HOME="$work/home" NO_COLOR=1
mkdir -p "$HOME"

# tried NAME ROOT PROGRAM
tried() {
	# shellcheck disable=SC2086 # a program and its arguments
	$3 demo --quick >"$work/demo.log" 2>&1 || { cat "$work/demo.log"; echo "$1: the demonstration failed"; exit 1; }
	# shellcheck disable=SC2086
	$3 version --json >/dev/null
	for file in share/man/man1/codeloops.1.gz share/bash-completion/completions/codeloops share/zsh/site-functions/_codeloops share/fish/vendor_completions.d/codeloops.fish; do
		[ -z "$2" ] || [ -s "$2/usr/$file" ] || { echo "$1: no $file"; exit 1; }
	done
	echo "$1: installed, and the demonstration ran"
}
without() { echo "$1: not tried, there is no $2"; }

deb=$(ls "$dist"/*_"$arch".deb)
if command -v dpkg >/dev/null; then
	mkdir -p "$work/deb/var/lib/dpkg/updates" "$work/deb/var/lib/dpkg/info"
	: >"$work/deb/var/lib/dpkg/status"
	dpkg --root="$work/deb" --force-depends --force-not-root --force-script-chrootless --log="$work/dpkg.log" -i "$deb" >/dev/null 2>"$work/dpkg.err" || { cat "$work/dpkg.err"; exit 1; }
	dpkg-deb -f "$deb" Depends | grep -qx git
	tried deb "$work/deb" "$work/deb/usr/bin/codeloops"
else without deb dpkg; fi

rpm=$(ls "$dist"/*_"$arch".rpm)
if command -v rpm2cpio >/dev/null && command -v cpio >/dev/null; then
	mkdir -p "$work/rpm" && (cd "$work/rpm" && rpm2cpio "$rpm" | cpio -idm --quiet --no-absolute-filenames)
	tried rpm "$work/rpm" "$work/rpm/usr/bin/codeloops"
else without rpm "rpm2cpio or cpio"; fi

mkdir -p "$work/apk" && tar -xzf "$(ls "$dist"/*_"$arch".apk)" -C "$work/apk" 2>/dev/null
tried apk "$work/apk" "$work/apk/usr/bin/codeloops"

mkdir -p "$work/tar" && tar -xzf "$dist/codeloops_linux_$arch.tar.gz" -C "$work/tar"
tried tar "" "$work/tar/codeloops"
(cd "$dist" && sha256sum --quiet --ignore-missing -c checksums.txt) && echo "checksums: right"

sbom=$(ls "$dist"/codeloops_linux_"$arch"*.sbom.json)
grep -q '"name": "github.com/go-git/go-git/v5"' "$sbom" || { echo "sbom: it does not name go-git"; exit 1; }
echo "sbom: names what is compiled in"

base=$(sed -n 's/^FROM //p' "$here/Dockerfile")
mkdir -p "$work/image/linux/$arch" && cp "$work/tar/codeloops" "$work/image/linux/$arch"
tool=buildah
if docker info >/dev/null 2>&1; then tool=docker; fi
if ! command -v $tool >/dev/null; then without image "docker or buildah"
elif ! $tool pull -q "$base" >/dev/null 2>&1; then without image "$base"
else
	$tool build --build-arg TARGETPLATFORM="linux/$arch" -t codeloops-try -f "$here/Dockerfile" "$work/image" >"$work/image.log" 2>&1 ||
		{ cat "$work/image.log"; exit 1; }
	if [ $tool = docker ]; then tried image "" "docker run --rm codeloops-try"
	else
		made=$(buildah from --pull=never localhost/codeloops-try)
		tried image "" "buildah run $made -- codeloops"
		buildah rm "$made" >/dev/null
	fi
fi

if command -v npm >/dev/null; then
	version=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' "$dist/metadata.json" | head -n 1)
	node "$here/npm/pack.mjs" "$dist" "$version" "$work/npm" >/dev/null
	# npm without a network: the packages that "codeloops" depends on are given by hand, as a registry would.
	mkdir "$work/project" && cd "$work/project" && echo '{}' >package.json
	node_arch=$(node -p process.arch)
	npm install --offline --ignore-scripts --no-audit --no-fund --silent "$work/npm/codeloops-linux-$node_arch-$version.tgz"
	npm install --offline --ignore-scripts --no-audit --no-fund --silent "$work/npm/codeloops-$version.tgz"
	tried npm "" ./node_modules/.bin/codeloops
	npx --offline codeloops version
	code=0; ./node_modules/.bin/codeloops sessions show nothing >/dev/null 2>&1 || code=$?
	[ "$code" = 2 ] || { echo "npm: the exit code is $code, not 2"; exit 1; }
else without npm npm; fi
