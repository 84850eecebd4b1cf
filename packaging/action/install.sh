#!/usr/bin/env bash
# Makes sure that there is a gputime: the one on PATH, else one built from this action's sources.
set -euo pipefail
if ! command -v gputime >/dev/null; then
    cd "$GITHUB_ACTION_PATH"
    ./setup.sh build
    make -s -j"$(nproc)" build/gputime
    echo "$PWD/build" >>"$GITHUB_PATH"
    PATH=$PWD/build:$PATH
fi
gputime --version
