#!/bin/sh
# Makes Debian packages of what `make install` puts into a directory: packaging/deb/build.sh STAGE OUT VERSION SONAME.
# What is in the stage decides which packages there are. The same stage gives the same bytes (SOURCE_DATE_EPOCH).
set -eu
mkdir -p "$2"
stage=$1 out=$(cd "$2" && pwd) version=$3 soname=$4
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
arch=$(dpkg --print-architecture)
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
release=$version-0gputime1 # not of Debian itself
library=libgputime${soname#libgputime.so.}
maintainer=${MAINTAINER:-"gputime developers <${DEBEMAIL:-gputime@packages.invalid}>"}
: "${SOURCE_DATE_EPOCH:=$(stat -c %Y "$top/CHANGELOG.md")}"
export SOURCE_DATE_EPOCH
rm -rf "$out"
mkdir -p "$out/debian"

# dpkg-shlibdeps wants to be in a source tree.
cat >"$out/debian/control" <<END
Source: gputime
Maintainer: $maintainer

Package: $library
Architecture: any
Description: where the GPU time went
END

# move ROOT PATH...: these of the stage belong to the package below ROOT.
move() {
    root=$1
    shift
    for path; do
        mkdir -p "$root/$(dirname "$path")"
        mv "$stage/$path" "$root/$path"
    done
}

# documents ROOT PACKAGE: what every package has.
documents() {
    folder=$1/usr/share/doc/$2
    mkdir -p "$folder"
    cp "$here/copyright" "$folder/copyright"
    gzip -9n <"$top/NOTICE" >"$folder/NOTICE.gz"
    gzip -9n <"$top/CHANGELOG.md" >"$folder/changelog.gz"
    printf 'gputime (%s) unstable; urgency=medium\n\n  * Version %s: see changelog.gz.\n\n -- %s  %s\n' "$release" \
        "$version" "$maintainer" "$(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$folder/changelog.Debian.gz"
    chmod 644 "$folder"/*
}

# libraries FILE: $depends is the packages that it needs; there is always one, of the C library.
libraries() {
    log=$out/shlibdeps.log
    if ! found=$(cd "$out" && dpkg-shlibdeps -O -l"$out/$library/usr/lib/$multiarch" -L"$out/shlibs" "$1" 2>"$log"); then
        cat "$log" >&2
        echo "$0: dpkg-shlibdeps failed for $1" >&2
        exit 1
    fi
    depends=$(printf '%s\n' "$found" | sed -n 's/^shlibs:Depends=//p')
    if [ -z "$depends" ]; then
        cat "$log" >&2
        echo "$0: dpkg-shlibdeps names no package that $1 needs" >&2
        exit 1
    fi
}

# The package of the library that `gputime view` loads when it starts, which dpkg-shlibdeps cannot see.
server=
if [ -n "${SERVER:-}" ]; then
    server=$(dpkg-query -S "*/$SERVER" | sed -n '1s/:.*//p')
    [ -n "$server" ] || { echo "$0: no package has $SERVER" >&2; exit 1; }
fi
recommends=${server:+Recommends: $server\\n}

# pack PACKAGE ARCHITECTURE SECTION DEPENDS SUMMARY: reads the long description; extra fields are in $fields.
pack() {
    root=$out/$1
    documents "$root" "$1"
    mkdir -p "$root/DEBIAN"
    {
        printf 'Package: %s\nSource: gputime\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$1" "$release" "$2" "$maintainer"
        printf 'Installed-Size: %s\n' "$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)"
        [ -z "$4" ] || printf 'Depends: %s\n' "$4"
        printf '%b' "${fields:-}"
        printf 'Section: %s\nPriority: optional\nDescription: %s\n' "$3" "$5"
        cat
    } >"$root/DEBIAN/control"
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0r md5sum) >"$root/DEBIAN/md5sums"
    find "$root" -type d -exec chmod 755 {} +
    chmod 644 "$root"/DEBIAN/*
    find "$root" -exec touch -hcd "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group --build "$root" "$out/$1_${release}_$2.deb" >/dev/null
    echo "$out/$1_${release}_$2.deb"
}

find "$stage/usr" -type f -name '*.1' -exec gzip -9n {} +
strip --remove-section=.comment --remove-section=.note "$stage"/usr/bin/gputime* 2>/dev/null || :
strip --strip-unneeded --remove-section=.comment "$stage/usr/lib/$multiarch/$soname"
strip --strip-debug --remove-section=.comment --enable-deterministic-archives "$stage/usr/lib/$multiarch/libgputime.a"
echo "libgputime ${soname#libgputime.so.} $library (= $release)" >"$out/shlibs"

# ---- the library ----

move "$out/$library" "usr/lib/$multiarch/$soname"
chmod 644 "$out/$library/usr/lib/$multiarch/$soname"
mkdir -p "$out/$library/DEBIAN"
echo "libgputime ${soname#libgputime.so.} $library (>= $version)" >"$out/$library/DEBIAN/shlibs"
echo "activate-noawait ldconfig" >"$out/$library/DEBIAN/triggers"
libraries "$out/$library/usr/lib/$multiarch/$soname"
fields="Multi-Arch: same\n$recommends" pack "$library" "$arch" libs "$depends" \
    "where the GPU time went: library" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the shared library.
END

move "$out/libgputime-dev" usr/include/gputime.h "usr/lib/$multiarch/libgputime.so" "usr/lib/$multiarch/libgputime.a" \
    "usr/lib/$multiarch/pkgconfig/gputime.pc"
fields='Multi-Arch: same\n' pack libgputime-dev "$arch" libdevel "$library (= $release)" \
    "where the GPU time went: files for programs" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the header, the static library and what pkg-config needs to
 build programs that use libgputime.
END

if [ -e "$stage/usr/lib/$multiarch/gputime.so" ]; then
    strip --strip-unneeded --remove-section=.comment "$stage/usr/lib/$multiarch/gputime.so"
    chmod 644 "$stage/usr/lib/$multiarch/gputime.so"
    # No program links with it: it does not belong among the libraries.
    mkdir -p "$stage/usr/lib/$multiarch/sqlite3"
    mv "$stage/usr/lib/$multiarch/gputime.so" "$stage/usr/lib/$multiarch/sqlite3/gputime.so"
    move "$out/libsqlite3-mod-gputime" "usr/lib/$multiarch/sqlite3/gputime.so"
    libraries "$out/libsqlite3-mod-gputime/usr/lib/$multiarch/sqlite3/gputime.so"
    fields='Multi-Arch: same\n' pack libsqlite3-mod-gputime "$arch" libs "$depends" \
        "where the GPU time went: extension of SQLite" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the extension that gives SQLite tables of traces.
END
fi

# ---- the program ----

if [ -e "$stage/usr/bin/gputime-mpi" ]; then
    move "$out/gputime-mpi" usr/bin/gputime-mpi
    mkdir -p "$out/gputime-mpi/usr/share/man/man1"
    ln -s gputime.1.gz "$out/gputime-mpi/usr/share/man/man1/gputime-mpi.1.gz"
    libraries "$out/gputime-mpi/usr/bin/gputime-mpi"
    fields='' pack gputime-mpi "$arch" devel "gputime (= $release), $depends" \
        "where the GPU time went: jobs on several machines" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the program that reads the traces of a job's ranks with
 several processes of MPI.
END
fi

move "$out/gputime" usr/bin/gputime usr/share/man/man1/gputime.1.gz usr/share/bash-completion usr/share/zsh usr/share/fish \
    usr/share/gputime
mv "$out/gputime/usr/share/zsh/site-functions" "$out/gputime/usr/share/zsh/vendor-completions"
libraries "$out/gputime/usr/bin/gputime"
fields="${recommends}Suggests: gputime-doc\n" pack gputime "$arch" devel "$depends" \
    "where the GPU time went, from GPU traces" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next, in the terminal, in
 files and on a web page. It compares traces, checks limits in continuous
 integration, explains the ranks of a job, and serves agents (MCP).
END

mkdir -p "$out/gputime-doc/usr/share/doc/gputime-doc"
for file in "$top"/README.md "$top"/docs/*.md "$top"/docs/formats "$top"/docs/examples; do
    cp -r "$file" "$out/gputime-doc/usr/share/doc/gputime-doc/"
done
find "$out/gputime-doc" -type f -exec chmod 644 {} +
fields='Multi-Arch: foreign\n' pack gputime-doc all doc "" "where the GPU time went: documentation" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the definition of every number, the format of the JSON, the
 interface of the library and examples.
END

# ---- Python ----

if [ -d "$top/python/gputime" ]; then
    modules=$out/python3-gputime/usr/lib/python3/dist-packages/gputime
    mkdir -p "$modules"
    (cd "$top/python/gputime" && find . -name '*.py' -o -name py.typed) | while read -r file; do
        install -D -m 644 "$top/python/gputime/$file" "$modules/$file"
    done
    fields='' pack python3-gputime all python "python3 (>= 3.9), $library (>= $version)" \
        "where the GPU time went: Python module" <<'END'
 gputime reads traces of GPU work (PyTorch profiler, Nsight Systems), accounts
 for every nanosecond of GPU time and says what to do next.
 .
 This package has the Python module.
END
fi
rm -rf "$out/debian" "$out/shlibs" "$out/shlibdeps.log"
