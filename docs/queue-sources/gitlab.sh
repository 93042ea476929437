#!/bin/sh
# Tasks for codeloops from GitLab: the open issues with a label, in the project of the directory
# that it runs in. Needs glab and jq.
set -eu

ready=${READY_LABEL-ready}
doing=${DOING_LABEL-in progress}
failed=${FAILED_LABEL-needs a person}

# note writes a comment once: a hidden line in it says which task it is about.
note() {
	result=$(cat)
	marker=$(printf '%s' "$result" | jq -r --arg how "$2" '"<!-- codeloops \($how) \([.task, .session] | tojson | @base64) -->"')
	notes=$(glab api --paginate "projects/:id/issues/$1/notes?per_page=100")
	printf '%s' "$notes" | jq -e --arg marker "$marker" -s 'flatten | any(.body | contains($marker))' >/dev/null ||
		glab issue note "$1" --message "$(printf '%s' "$result" | jq -r --arg marker "$marker" --arg text "$3" '
			$marker + "\n" + $text + "\n\n"
			+ ([.commit, .why, .summary] | map(select(. != null and . != "")) | join("\n\n") | split("\n") | map("    " + .) | join("\n"))')" >&2
}

case ${1-} in
list)
	all='' page=1
	while :; do
		issues=$(glab issue list --label "$ready" --output json --per-page 100 --page "$page")
		all=$all$issues
		[ "$(printf '%s' "$issues" | jq -s 'add // [] | length')" -ge 100 ] || break
		page=$((page + 1))
	done
	printf '%s' "$all" | jq -s 'add // [] | map({key: (.iid | tostring), prompt: (.title + "\n\n" + (.description // ""))})'
	;;
claim)
	glab issue update "$2" --label "$doing" --unlabel "$ready" >&2
	;;
done)
	note "$2" done "codeloops has finished this task:"
	glab issue update "$2" --unlabel "$ready,$doing" >&2
	;;
failed)
	note "$2" failed "codeloops could not finish this task, it needs a person:"
	glab issue update "$2" --label "$failed" --unlabel "$ready,$doing" >&2
	;;
*)
	echo "usage: $0 list | claim KEY | done KEY | failed KEY" >&2
	exit 2
	;;
esac
