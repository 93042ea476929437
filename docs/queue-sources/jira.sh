#!/bin/sh
# Tasks for codeloops from Jira: the issues with a label that are not done, at most 100 at a time, in the project that
# jira (jira-cli, `jira init`) is set up for. Needs jira and jq.
set -eu

ready=${READY_LABEL-codeloops}
doing=${DOING_LABEL-$ready-in-progress}
merged=${MERGED_LABEL-$ready-done}
failed=${FAILED_LABEL-$ready-needs-a-person}

# label gives an issue one of the labels instead of the others.
label() {
	key=$1 now=$2
	set -- --label "$now"
	for other in "$ready" "$doing" "$merged" "$failed"; do
		[ "$other" = "$now" ] || set -- "$@" --label "-$other"
	done
	jira issue edit "$key" --no-input "$@" >&2
}

# comment writes a comment once: a line in it says which task it is about.
comment() {
	result=$(cat)
	marker=$(printf '%s' "$result" | jq -r --arg how "$2" '"codeloops: \($how), task \(.task), session \(.session // "-")"')
	jira issue view "$1" --raw --comments 100 </dev/null | jq -e --arg marker "$marker" '[.. | strings | select(contains($marker))] | any' >/dev/null ||
		printf '%s' "$result" | jq -r --arg marker "$marker" --arg text "$3" '
			$marker + "\n\n" + $text + "\n\n"
			+ ([.commit, .why, .summary] | map(select(. != null and . != "")) | join("\n\n") | split("\n") | map("    " + .) | join("\n"))' |
		jira issue comment add "$1" --no-input --template - >&2
}

case ${1-} in
list)
	# Without issues, jira fails and says so.
	if ! issues=$(jira issue list --jql "labels = \"$ready\" AND statusCategory != Done" --paginate 0:100 --raw </dev/null 2>&1); then
		case $issues in
		*'No result found'*) issues='[]' ;;
		*)
			printf '%s\n' "$issues" >&2
			exit 1
			;;
		esac
	fi
	# A description is a text, or a tree of parts (the cloud).
	printf '%s' "$issues" | jq '
		def plain: if type == "string" then . elif type != "object" then "" elif .type == "text" then .text elif .type == "hardBreak" then "\n"
			else ([.content[]? | plain] | join("")) + (if .type == "paragraph" or .type == "heading" or .type == "codeBlock" then "\n" else "" end) end;
		sort_by(.key | split("-") | [.[0], (.[1] | tonumber)]) | map({key, prompt: (.fields.summary + "\n\n" + (.fields.description | plain))})'
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
