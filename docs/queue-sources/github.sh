#!/bin/sh
# Tasks for codeloops from GitHub: the open issues with a label, in the repository of the directory
# that it runs in, or in $GH_REPO. Needs gh and jq.
set -eu

ready=${READY_LABEL-codeloops}
doing=${DOING_LABEL-$ready: in progress}
merged=${MERGED_LABEL-$ready: done}
failed=${FAILED_LABEL-$ready: needs a person}

# label gives an issue one of the labels instead of the others.
label() {
	gh label create "$2" >/dev/null 2>&1 || : # there is one already
	has=$(gh issue view "$1" --json labels --jq '.labels[].name')
	set -- "$1" "$2" gh issue edit "$1" --add-label "$2"
	for other in "$ready" "$doing" "$merged" "$failed"; do
		[ "$other" = "$2" ] || ! printf '%s\n' "$has" | grep -qxF -e "$other" || set -- "$@" --remove-label "$other"
	done
	shift 2
	"$@" >&2
}

# comment writes a comment once: a hidden line in it says which task it is about.
comment() {
	result=$(cat)
	marker=$(printf '%s' "$result" | jq -r --arg how "$2" '"<!-- codeloops \($how) \([.task, .session] | tojson | @base64) -->"')
	comments=$(gh issue view "$1" --json comments --jq '.comments[].body')
	printf '%s\n' "$comments" | grep -qF -e "$marker" ||
		printf '%s' "$result" | jq -r --arg marker "$marker" --arg text "$3" '
			$marker + "\n" + $text + "\n\n"
			+ ([.commit, .why, .summary] | map(select(. != null and . != "")) | join("\n\n") | split("\n") | map("    " + .) | join("\n"))' |
		gh issue comment "$1" --body-file - >&2
}

case ${1-} in
list)
	issues=$(gh issue list --label "$ready" --state open --limit 5000 --json number,title,body)
	printf '%s' "$issues" | jq 'sort_by(.number) | map({key: (.number | tostring), prompt: (.title + "\n\n" + (.body // ""))})'
	;;
claim)
	label "$2" "$doing"
	;;
done)
	comment "$2" done "codeloops has finished this task:"
	label "$2" "$merged"
	;;
failed)
	comment "$2" failed "codeloops could not finish this task, it needs a person:"
	label "$2" "$failed"
	;;
*)
	echo "usage: $0 list | claim KEY | done KEY | failed KEY" >&2
	exit 2
	;;
esac
