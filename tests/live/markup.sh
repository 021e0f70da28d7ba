#!/bin/sh
# markup.sh TOOL PROGRAM [ARGUMENT...] -- has a program print a stack as text and as
# markup, the markup read by TOOL ("llvm" or "backtrail"), and compares what both say of
# the program's own code: function, file, line and column of each call, inlined ones too.
# Says what they agree on.
set -u
tool=$1 program=$2
shift 2

# LLVM looks for a file by its id alone.
id=$(readelf -n "$(command -v "$program")" | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "ids/.build-id/${id%"$rest"}"
ln -s "$(command -v "$program")" "ids/.build-id/${id%"$rest"}/$rest.debug"

case $tool in
llvm) reader="llvm-symbolizer-22 --filter-markup --debug-file-directory=$PWD/ids" ;;
backtrail) reader="backtrail resolve --markup" ;;
esac

BACKTRAIL_STYLE=text "$program" "$@" 2> text > none || exit 1
BACKTRAIL_STYLE=markup "$program" "$@" 2> markup > none || exit 1
grep -q ' at src/' markup && echo "the markup has names"
$reader < markup > named 2> complaints
sed -nE 's/^ *[0-9]+: (.*) at (src[^ ]*)( \(inlined\))?$/\1 \2/p' text > ours
# LLVM puts the directory of compilation before a relative name.
sed -nE 's,^ *#[0-9.]+ +0x[0-9a-f]+ (.*) (/[^ ]*/)?(src/[^ ]*) .*,\1 \3,p' named > theirs
diff ours theirs && cat ours
