#!/bin/sh
# Ends with exit code 1 when slug.sh gets a title wrong.
cd "$(dirname "$0")" || exit 1
failed=0

check() {
	got=$(sh slug.sh "$1")
	if [ "$got" = "$2" ]; then
		echo "ok:   '$1' becomes '$got'"
	else
		echo "FAIL: '$1' becomes '$got', not '$2'"
		failed=1
	fi
}

check 'Hello World' 'hello-world'
check 'Ready, steady, go!' 'ready-steady-go'
check '  Mind the  gap ' 'mind-the-gap'
exit "$failed"
