# files.sh -- what the lint scripts look at; sourced by each of them.
#
# Tracked files and new ones that git does not ignore, so that a finding shows before
# it is committed. Fixtures are not ours to shape.

set -eu
export LC_ALL=C

lint_tmp=$(mktemp -d)
trap 'rm -rf "$lint_tmp"' EXIT
trap 'exit 130' HUP INT TERM
: > "$lint_tmp/findings"

# lint_files PATTERN...: one path a line. A repository that git cannot read is an
# error, never an empty list.
lint_files()
{
    git ls-files -co --exclude-standard -- "$@" > "$lint_tmp/listed" || exit 2
    sort -u "$lint_tmp/listed" | while IFS= read -r file; do
        case $file in
        tests/fixtures/* | tests/receivers/package-lock.json) ;;
        *) if [ -f "$file" ]; then printf '%s\n' "$file"; fi ;;
        esac
    done
}

# Prints the findings (standard input), sorted; the script ends with 1 if there are any.
lint_report()
{
    cat >> "$lint_tmp/findings"
    [ -s "$lint_tmp/findings" ] || exit 0
    sort -t: -k1,1 -k2,2n -u "$lint_tmp/findings"
    exit 1
}
