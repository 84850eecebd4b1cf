#!/usr/bin/env bash
# Compares traces and checks limits; writes the report in Markdown, and to the summary of the run. Its outputs are `status`
# (ok, broken, failed) and `report`. It fails only if it cannot do that: the last step of the action judges.
set -euo pipefail

# lines TEXT: its lines that are not empty, in the array `list`.
lines() {
    list=()
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line=${line%$'\r'}
        line=${line#"${line%%[![:space:]]*}"}
        line=${line%"${line##*[![:space:]]}"}
        [ -z "$line" ] || list+=("$line")
    done <<<"$1"
}

folder=${RUNNER_TEMP:-$(mktemp -d)}
report=$folder/gputime.md
errors=$folder/gputime.errors

lines "${GPUTIME_BEFORE-}" && before=("${list[@]}")
lines "${GPUTIME_AFTER-}" && after=("${list[@]}")
lines "${GPUTIME_OPTIONS-}" && options=("${list[@]}")
lines "${GPUTIME_FAIL_IF-}"
for change in "${list[@]}"; do options+=("--fail-if=$change"); done
lines "${GPUTIME_LIMITS-}"
limits=()
for limit in "${list[@]}"; do limits+=("--limit=$limit"); done

# judge EXIT-STATUS: the worst of all that ran.
status=ok
judge() {
    case $1 in
    0) ;;
    3) [ "$status" = failed ] || status=broken ;;
    *) status=failed ;;
    esac
}

{
    printf '## %s\n\n' "${GPUTIME_TITLE:-GPU time}"
    code=0
    gputime diff --format md "${options[@]}" --a "${before[@]}" --b "${after[@]}" 2>"$errors" || code=$?
    judge $code
    if [ ${#limits[@]} -gt 0 ]; then
        printf '\n### Limits\n\n'
        code=0
        gputime check --format md "${limits[@]}" -- "${after[@]}" 2>>"$errors" || code=$?
        judge $code
    fi
    # Four blanks make code of a line, whatever is in it.
    if [ -s "$errors" ]; then
        printf '\n'
        sed 's/^/    /' "$errors"
    fi
} >"$report"
cat "$errors" >&2
if [ -n "${GITHUB_STEP_SUMMARY-}" ]; then
    cat "$report" >>"$GITHUB_STEP_SUMMARY"
fi
if [ -n "${GITHUB_OUTPUT-}" ]; then
    printf 'status=%s\nreport=%s\n' "$status" "$report" >>"$GITHUB_OUTPUT"
fi
