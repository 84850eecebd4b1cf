#!/bin/sh
# Asks the compiler what this system has: prints the settings that the Makefile includes, or names what is missing.
# usage: probe.sh PREFIX, which begins the name of every setting. PROBE_COMPILER is the compiler with the flags of this
# build, PROBE_LIBS the libraries that the user adds, PROBE_HARDEN=0 leaves hardening out.
set -u

# Does the program on standard input build? FLAGS LIBRARIES
builds() {
    eval "$PROBE_COMPILER $1 -x c - -o /dev/null $2 $PROBE_LIBS" >/dev/null 2>&1
}

# HEADERS LIBRARIES
has() {
    {
        printf '#define PCRE2_CODE_UNIT_WIDTH 8\n#include <stdio.h>\n'
        for header in $1; do
            printf '#include <%s>\n' "$header"
        done
        echo 'int main(void) { return 0; }'
    } | builds '' "$2"
}

# The name under which programs find the shared libmicrohttpd; empty where there is none, as in a static program.
server_name_of() {
    program=$(mktemp)
    printf '#include <stdarg.h>\n#include <microhttpd.h>\nint main(void) { return MHD_is_feature_supported(MHD_FEATURE_POLL) == 0; }\n' |
        eval "$PROBE_COMPILER -x c - -o $program -lmicrohttpd $PROBE_LIBS" >/dev/null 2>&1 &&
        ${READELF:-readelf} -d "$program" | sed -n 's/.*(NEEDED).*\[\(libmicrohttpd[^]]*\)\].*/\1/p'
    rm -f "$program"
}

missing=
need() { # HEADER LIBRARY PACKAGE
    has "$1" "$2" || missing="$missing $3"
}

# Warnings count, since clang only warns of an option that it ignores.
takes() {
    echo 'int main(void) { return 0; }' | builds "-Werror $1" ''
}

# The flag if the compiler takes it.
if_taken() {
    ! takes "$1" || printf ' %s' "$1"
}

# The C library says at which level it guards calls: level 3 needs a new compiler, every level optimisation.
fortifies() {
    printf '#include <string.h>\n#if __USE_FORTIFY_LEVEL != %s\n#error\n#endif\nint main(void) { return 0; }\n' "$1" |
        builds "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$1" ''
}

echo 'int main(void) { return 0; }' | builds '' '' || {
    echo "the compiler does not work: $PROBE_COMPILER" >&2
    echo "'make setup' installs gcc on Debian" >&2
    exit 1
}

gzip_define='' gzip_library=-lz
if has isa-l.h -lisal; then
    gzip_define=-DGT_HAVE_ISAL=1 gzip_library=-lisal
else
    need zlib.h -lz 'libisal-dev or zlib1g-dev'
fi
lzma_define='' lzma_library=''
if has lzma.h -llzma; then
    lzma_define=' -DGT_HAVE_LZMA=1' lzma_library=' -llzma'
fi
# The server's library is loaded by its name when a server starts.
server_define='' server_name=$(server_name_of)
[ -z "$server_name" ] || server_define=" -DGT_HAVE_MICROHTTPD=$server_name"
has 'sqlite3.h zstd.h lz4.h pcre2.h xxhash.h' '-lsqlite3 -lzstd -llz4 -lpcre2-8 -lm' || {
    need sqlite3.h '-lsqlite3 -lm' libsqlite3-dev
    need zstd.h -lzstd libzstd-dev
    need lz4.h -llz4 liblz4-dev
    need pcre2.h -lpcre2-8 libpcre2-dev
    need xxhash.h '' libxxhash-dev
}
if [ -n "$missing" ]; then
    echo "missing libraries (by their Debian packages):$missing; 'make setup' installs what is needed" >&2
    exit 1
fi

macros='' code='' link='' program=''
if [ "$PROBE_HARDEN" != 0 ]; then
    for level in 2 3; do
        ! fortifies $level || macros=" -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$level"
    done
    for flag in -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard; do
        code=$code$(if_taken $flag)
    done
    link=$(if_taken '-Wl,-z,relro -Wl,-z,now')
    program=$(if_taken -pie)
fi

cat <<END
$1_DEFINES := $gzip_define$lzma_define$server_define
$1_LIBS := $gzip_library$lzma_library
$1_HARDEN_MACROS :=$macros
$1_HARDEN_CODE :=$code
$1_HARDEN_LINK :=$link
$1_HARDEN_PROGRAM :=$program
END
