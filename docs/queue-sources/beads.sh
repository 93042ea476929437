#!/bin/sh
# Tasks for codeloops from beads: the issues that "bd ready" shows. Needs bd and jq.
set -eu

# field prints a member of an issue; bd prints an object, earlier versions a list of one.
field() {
	issue=$(bd show "$1" --json)
	printf '%s' "$issue" | jq -r "(if type == \"array\" then .[0] else . end).$2 // \"\""
}

case ${1-} in
list)
	ready=$(bd ready --json --limit 0)
	printf '%s' "$ready" | jq '
		(if type == "array" then . else .items end)
		| map(select(.issue_type != "epic") | {
			key: .id,
			prompt: ([
				.title,
				.description,
				(.acceptance_criteria // "" | if . == "" then . else "Acceptance criteria:\n\n" + . end)
			] | map(select(. != null and . != "")) | join("\n\n")),
			priority: (2 - (.priority // 2)) # here higher ones come first
		})'
	;;
claim)
	# Claiming is atomic, and nothing new for whoever has claimed it already.
	bd update "$2" --claim >&2 || {
		code=$?
		[ "$(field "$2" status)" != in_progress ] || exit 3 # somebody else's
		exit "$code"
	}
	;;
done)
	result=$(cat)
	[ "$(field "$2" status)" = closed ] ||
		bd close "$2" --reason "$(printf '%s' "$result" | jq -r '"codeloops: merged as \(.commit // "?")"')" >&2
	;;
failed)
	result=$(cat)
	[ "$(field "$2" status)" = blocked ] ||
		bd update "$2" --status blocked --append-notes "$(printf '%s' "$result" | jq -r '"codeloops: \(.why // "it needs a person")"')" >&2
	;;
*)
	echo "usage: $0 list | claim KEY | done KEY | failed KEY" >&2
	exit 2
	;;
esac
