#!/bin/sh
# Asks the compiler what this system has: prints the settings that the Makefile includes, or names what is missing.
# usage: probe.sh PREFIX, which begins the name of every setting. PROBE_COMPILER is the compiler with the flags of this
# build, PROBE_LIBS the libraries that the user adds, PROBE_HARDEN=0 leaves hardening out.
set -u

# Does the program on standard input build with these flags?
builds() {
    eval "$PROBE_COMPILER $1 -x c - -o /dev/null $2 $PROBE_LIBS" >/dev/null 2>&1
}

has() { # HEADER LIBRARY
    printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <stdio.h>\n#include <%s>\nint main(void) { return 0; }\n' "$1" |
        builds '' "$2"
}

# Warnings count, since clang only warns of an option that it ignores.
takes() {
    printf '#include <string.h>\nint main(int n, char **v) { char s[9]; return strcpy(s, v[0])[0] + n; }\n' |
        builds "-Werror $1" ''
}

# The flags of the list that the compiler takes.
those_taken() {
    taken=
    for flag in "$@"; do
        takes "$flag" && taken="$taken $flag"
    done
    echo "$taken"
}

missing=
need() { # HEADER LIBRARY PACKAGE
    has "$1" "$2" || missing="$missing $3"
}

echo 'int main(void) { return 0; }' | builds '' '' || {
    echo "the compiler does not work: $PROBE_COMPILER" >&2
    echo "'make setup' installs gcc where apt-get is the package manager" >&2
    exit 1
}

gzip_define= gzip_library=-lz
if has isa-l.h -lisal; then
    gzip_define=-DGT_HAVE_ISAL=1 gzip_library=-lisal
else
    need zlib.h -lz 'libisal-dev or zlib1g-dev'
fi
need sqlite3.h -lsqlite3 libsqlite3-dev
need zstd.h -lzstd libzstd-dev
need lz4.h -llz4 liblz4-dev
need pcre2.h -lpcre2-8 libpcre2-dev
need xxhash.h '' libxxhash-dev
if [ -n "$missing" ]; then
    echo "missing libraries (by their Debian packages):$missing; 'make setup' installs what is needed" >&2
    exit 1
fi

macros= code= link= program=
if [ "$PROBE_HARDEN" != 0 ]; then
    for level in 3 2; do
        macros="-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level"
        takes "$macros" && break
        macros=
    done
    code=$(those_taken -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    link=$(those_taken -Wl,-z,relro -Wl,-z,now)
    program=$(those_taken -pie)
fi

cat <<END
$1_DEFINES := $gzip_define
$1_LIBS := $gzip_library
$1_HARDEN_MACROS := $macros
$1_HARDEN_CODE :=$code
$1_HARDEN_LINK :=$link
$1_HARDEN_PROGRAM :=$program
END
