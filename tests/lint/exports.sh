#!/bin/sh
# exports.sh [BUILD_DIR] -- a plugin exports its one table and needs nothing of ours; a
# library exports trail_* names only, and needs only what an app should have to load.
. "$(dirname "$0")/files.sh"

build=${1-build/release}
if [ $# -eq 0 ] && [ ! -d "$build" ]; then
    echo "exports.sh: nothing is built in $build, so there is nothing to look at" >&2
    exit 0
fi
if [ ! -d "$build" ]; then
    echo "exports.sh: $build: no such directory; name one that was built in" >&2
    exit 2
fi

libc='libc\.so\.|libgcc_s\.so\.|ld-linux'

exported() # FILE
{
    nm -D --defined-only "$1" | awk '$(NF - 1) != "A" { print $NF }' | sed 's/@.*//' | sort
}

plugin() # FILE
{
    id=$(basename "$1" .so | tr - _)
    names=$(exported "$1" | tr '\n' ' ')
    case $names in
    "trail_symbolizer_$id " | "trail_sink_$id ") ;;
    *) echo "$1:1: exports '${names% }', not trail_symbolizer_$id or trail_sink_$id alone" ;;
    esac
    nm -D --undefined-only "$1" | sed -nE "s|.* (trail_[^@]*).*|$1:1: needs \1 of its host|p"
    needs_other "$1" '' | grep 'libbacktrail' || true
}

needs_other() # FILE ALLOWED: libraries it needs besides those
{
    readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vE "^(${2:-nothing})" |
        sed "s|^|$1:1: needs |"
}

library() # FILE
{
    exported "$1" | grep -v '^trail_' | sed "s|^|$1:1: exports |"
    case $1 in
    *libbacktrail-capture*) needs_other "$1" "$libc" ;;
    # Symbol readers and network clients come with plugins, when they are asked for.
    *) needs_other "$1" "$libc|libjansson\.so\.|libmd\.so\.|libz\.so\." ;;
    esac
}

find "$build/plugins-built" -name '*.so' 2> "$lint_tmp/none" | sort > "$lint_tmp/plugins" || true
find "$build" -type f \( -name 'libbacktrail.so*' -o -name 'libbacktrail-capture.so*' \) |
    sort > "$lint_tmp/libraries"
{
    [ -s "$lint_tmp/plugins" ] || echo "$build/plugins-built:1: no plugin was built"
    [ -s "$lint_tmp/libraries" ] || echo "$build:1: no libbacktrail.so was built"
    while IFS= read -r file; do plugin "$file"; done < "$lint_tmp/plugins"
    while IFS= read -r file; do library "$file"; done < "$lint_tmp/libraries"
} | lint_report
