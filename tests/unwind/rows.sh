#!/bin/sh
# rows.sh -- every row of a file's unwind tables is what readelf says it is.
#
#   rows.sh PRINT_ROWS FILE SECTION [noindex]
#
# FILE may also be the name of a shared library that PRINT_ROWS is linked to, or of a
# program. Exit status 77: readelf or FILE is not there.
set -eu
print_rows=$1 file=$2 section=$3 index=${4-}

command -v readelf >/dev/null || exit 77
case $file in
*/*) ;;
*.so.*) file=$(ldd "$print_rows" | awk -v name="$file" '
        { for (i = 1; i <= NF; i++) if ($i ~ "/" name "$") { print $i; exit } }') ;;
*) file=$(PATH=/usr/bin:/bin command -v "$file") || exit 77 ;;
esac
[ -r "$file" ] || exit 77

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# It fails where a .gnu_debuglink leads nowhere.
readelf --wide --debug-dump=frames-interp "$file" >"$work/readelf" 2>/dev/null || true
awk -v section="$section" -f "$(dirname "$0")/rows.awk" "$work/readelf" |
    sort -u >"$work/wanted"
"$print_rows" "$file" "$section" ${index:+"$index"} >"$work/rows" || {
    grep " has " "$work/rows" | head -20
    exit 1
}
sort -u "$work/rows" >"$work/got"
[ -s "$work/wanted" ] || { echo "readelf shows no rows of $file"; exit 1; }
diff "$work/wanted" "$work/got" >"$work/difference" || {
    head -20 "$work/difference"
    exit 1
}
echo "$(wc -l <"$work/got") rows"
