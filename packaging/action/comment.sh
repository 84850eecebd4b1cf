#!/usr/bin/env bash
# Comments the report on the pull request of the event; a later run with the same title changes its comment instead of adding
# another. Without a pull request it does nothing.
set -euo pipefail
number=$(python3 -c '
import json, sys
event = json.load(open(sys.argv[1]))
print(event.get("pull_request", {}).get("number", ""))' "$GITHUB_EVENT_PATH")
if [ -z "$number" ]; then
    echo "no pull request: no comment"
    exit 0
fi

body=$(mktemp)
trap 'rm -f "$body"' EXIT
export GPUTIME_MARK="<!-- gputime: ${GPUTIME_TITLE:-GPU time} -->"
# GitHub takes 65,536 characters.
{
    printf '%s\n' "$GPUTIME_MARK"
    head -c 60000 "$GPUTIME_REPORT"
    if [ "$(wc -c <"$GPUTIME_REPORT")" -gt 60000 ]; then
        printf '\n\nThe rest is in the summary of the run.\n'
    fi
} >"$body"

comments=repos/$GITHUB_REPOSITORY/issues/$number/comments
# The title is data and no part of the program. Each page of the answer has its own first one.
known=$(gh api --paginate "$comments" --jq 'first(.[] | select(.body | startswith(env.GPUTIME_MARK)) | .id)')
known=${known%%$'\n'*}
if [ -n "$known" ]; then
    gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" -F "body=@$body" --silent
else
    gh api --method POST "$comments" -F "body=@$body" --silent
fi
