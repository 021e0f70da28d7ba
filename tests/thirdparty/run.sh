#!/bin/sh
# run.sh BUILD_DIR SOURCE_DIR -- plugins of a third party, built outside the tree against
# what is installed, are picked up from a directory by config, with nothing rebuilt.
set -eu

build=$(cd "$1" && pwd)
source=$(cd "$2" && pwd)
here=$source/tests/thirdparty
sample=$source/tests/fixtures/elf/x64-gcc-dw5-O2
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
unset BACKTRAIL_CONFIG BACKTRAIL_PLUGIN_PATH BACKTRAIL_STATE

fail() # WHAT
{
    echo "thirdparty: $1" >&2
    exit 1
}

expect() # PATTERN FILE
{
    grep -q -- "$1" "$2" || {
        cat "$2" >&2
        fail "no '$1' in $(basename "$2")"
    }
}

cmake --install "$build" --prefix "$prefix" > "$work/install.log"
# The tree can be moved: nothing may depend on where it was installed first.
mv "$prefix" "$work/moved"
prefix=$work/moved
pc=$(dirname "$(find "$prefix" -name backtrail.pc)")
export PKG_CONFIG_PATH="$pc"
libdir=$(pkg-config --variable=libdir backtrail)
export LD_LIBRARY_PATH="$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

before=$(find "$prefix" -type f -exec cksum {} + | sort)
mkdir "$work/outside" "$work/with-cmake" "$work/with-pkg-config"
cp "$here"/*.c "$here/CMakeLists.txt" "$work/outside"

echo "with CMake"
cmake -S "$work/outside" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="${CFLAGS-} -Wall -Wextra -Werror" > "$work/cmake.log"
cmake --build "$work/cmake" >> "$work/cmake.log"
cp "$work/cmake/hundreds.so" "$work/cmake/tally.so" "$work/with-cmake"
cp "$work/cmake/app" "$work/app"

echo "with pkg-config"
for plugin in hundreds tally; do
    # shellcheck disable=SC2046,SC2086 # words are wanted
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror ${CFLAGS-} -fPIC -shared \
        $(pkg-config --cflags backtrail) \
        -o "$work/with-pkg-config/$plugin.so" "$work/outside/$plugin.c"
done
# shellcheck disable=SC2046,SC2086
${CC:-cc} -std=c11 ${CFLAGS-} $(pkg-config --cflags backtrail) -o "$work/app2" \
    "$work/outside/app.c" $(pkg-config --libs backtrail)
test -d "$(pkg-config --variable=plugindir backtrail)" || fail "plugindir is not there"
test -d "$(pkg-config --variable=plugindir backtrail-capture)" || fail "no plugindir"

for way in with-cmake with-pkg-config; do
    cat > "$work/$way.json" <<EOF
{
  "state": "$work/state",
  "plugins": { "path": ["\${dir}/$way"] },
  "symbolizers": [ { "use": "hundreds" } ],
  "sinks": [ { "use": "tally", "path": "$work/$way.txt" } ]
}
EOF
    "$prefix/bin/backtrail" plugins --config "$work/$way.json" > "$work/list"
    expect "symbolizer *hundreds *0.1.0 *loaded" "$work/list"
    expect "sink *tally *0.1.0 *loaded" "$work/list"

    "$prefix/bin/backtrail" resolve --config "$work/$way.json" -e "$sample" 0x401010 \
        > "$work/resolved"
    expect "named_by_hundreds at .*hundreds.txt:17" "$work/resolved"

    for app in "$work/app" "$work/app2"; do
        rm -f "$work/$way.txt"
        "$app" "$work/$way.json"
        expect "^tallied report .*from outside.*named_by_hundreds" "$work/$way.txt"
    done
    echo "$way: listed, resolves, delivers"
done

after=$(find "$prefix" -type f -exec cksum {} + | sort)
test "$before" = "$after" || fail "the installed files changed"
echo "ok"
