#!/bin/sh
# Installs the Debian packages that gputime needs: setup.sh build [test] [mpi] [slurm] [web] [package] [lint] [fuzz]
# [fuzz-runtime] [coverage] [bench].
# Prints nothing when all are there. Users need `build` alone; `web` is for those who change the page or test it.
set -eu

packages=
for group in "$@"; do
    case $group in
    build) packages="$packages gcc libc6-dev make libisal-dev zlib1g-dev libzstd-dev libpcre2-dev libxxhash-dev libsqlite3-dev liblz4-dev liblzma-dev libmicrohttpd-dev" ;;
    test) packages="$packages libcmocka-dev python3 python3-pytest python3-pytest-xdist python3-numpy python3-pandas zstd pkgconf sqlite3 chromium" ;;
    mpi) packages="$packages openmpi-bin libopenmpi-dev mpich libmpich-dev" ;;
    slurm) packages="$packages slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge" ;;
    # Debian's npm is old, large, and not needed where there is another one.
    web) command -v npm >/dev/null 2>&1 || packages="$packages nodejs npm" ;;
    package) packages="$packages dpkg-dev binutils lintian shellcheck python3-yaml jq" ;;
    lint) packages="$packages clang-format clang-tidy cppcheck" ;;
    fuzz) packages="$packages clang" ;;
    coverage) packages="$packages llvm libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" ;;
    # Named after the version of clang, which must be there first.
    fuzz-runtime) packages="$packages libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev" ;;
    bench)
        packages="$packages python3 libsimdjson-dev g++"
        command -v npm >/dev/null 2>&1 || packages="$packages nodejs npm" ;;
    *) echo "setup.sh: unknown group '$group'" >&2; exit 2 ;;
    esac
done

command -v dpkg-query >/dev/null 2>&1 || {
    echo "setup.sh: not a Debian system; please install what these Debian packages hold:$packages" >&2
    exit 0
}

missing=
for package in $packages; do
    # A package may be provided by another one (pkgconf by pkg-config's successor), so ask for the state only.
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup.sh: missing packages; as root run: apt-get install$missing" >&2
        exit 1
    }
    as_root=sudo
fi
echo "installing$missing" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { $as_root apt-get update -qq &&
       $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup.sh: apt-get could not install$missing" >&2
    exit 1
fi
