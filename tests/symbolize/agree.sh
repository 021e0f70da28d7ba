#!/bin/sh
# Compares 2,000 addresses of a real file with llvm-symbolizer 19.
# usage: agree.sh BACKTRAIL AGREE PLUGIN_DIR PLUGIN FILE PERCENT
# The addresses are instruction starts in .text, drawn with seed 7.
set -eu
backtrail=$1 agree=$2 plugins=$3 plugin=$4 file=$5 percent=$6
llvm=${LLVM_SYMBOLIZER:-llvm-symbolizer-19}
for tool in objdump readelf "$llvm"; do
    command -v "$tool" >/dev/null || { echo "agree.sh: $tool is not installed"; exit 1; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
BACKTRAIL_STATE=$work/state
BACKTRAIL_CONFIG=
export BACKTRAIL_STATE BACKTRAIL_CONFIG

objdump -d --section=.text --no-show-raw-insn "$file" |
    awk '/^ +[0-9a-f]+:\t/ { sub(/:.*/, ""); print $1 }' >"$work/starts"
awk -v count=2000 'BEGIN { srand(7) }
    { if (NR <= count) kept[NR] = $1
      else { at = int(rand() * NR) + 1; if (at <= count) kept[at] = $1 } }
    END { for (i in kept) print "0x" kept[i] }' "$work/starts" | sort -u >"$work/addresses"

"$backtrail" resolve --plugin-path "$plugins" --plugin "$plugin" --json --no-demangle \
    -e "$file" <"$work/addresses" >"$work/ours"
# Given the program, LLVM takes lines from its debug file but names from the program's own
# stripped symbol table; given the debug file it reads both there. The addresses are equal.
id=$(readelf -n "$file" | awk '/Build ID:/ { print $3 }')
debug=/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
[ -f "$debug" ] || { echo "agree.sh: $debug is missing: install its -dbg package"; exit 1; }
"$llvm" --no-demangle --output-style=JSON -e "$debug" <"$work/addresses" >"$work/theirs"
"$agree" "$percent" "$work/ours" "$work/theirs"
