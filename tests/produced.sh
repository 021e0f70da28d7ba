# produced.sh -- keeps what a test made the program write, for tests/schema to look at;
# sourced. Nothing is kept unless ctest asks for it.

# Lines that our own writers wrote, and those only: tests write wrong ones, too.
produced_lines='^\{"backtrail":[^,]*,"kind":"trace",.*"writer":\{"name":"libbacktrail-capture"'
produced_lines=$produced_lines'|^\{"backtrail":[^,]*,"kind":"report",.*"resolver":\{"name":"backtrail"'
produced_lines=$produced_lines'|^\[?\{"Address":|^\{"kind":"[a-z]*","name":.*"abi":'
produced_lines=$produced_lines'|^\{"backtrail":[^,]*,"kind":"symbols",.*"writer":\{"name":"backtrail"'

# What an older run left is of an older program.
[ -z "${BACKTRAIL_TEST_PRODUCED-}" ] ||
    rm -f "$BACKTRAIL_TEST_PRODUCED.jsonl" "$BACKTRAIL_TEST_PRODUCED"-*.config.json

# produced_keep FILE...: the lines of that kind in files.
produced_keep()
{
    [ -n "${BACKTRAIL_TEST_PRODUCED-}" ] || return 0
    grep -ahE "$produced_lines" "$@" >> "$work/produced" 2> /dev/null || true
}

# produced_keep_config FILE: one that the program takes.
produced_keep_config()
{
    [ -n "${BACKTRAIL_TEST_PRODUCED-}" ] || return 0
    produced_number=$((${produced_number-0} + 1))
    cp "$1" "$BACKTRAIL_TEST_PRODUCED-$produced_number.config.json"
}

# produced_at_exit PROGRAM: what is in the test's directory in the end.
produced_at_exit()
{
    [ -n "${BACKTRAIL_TEST_PRODUCED-}" ] || return 0
    for produced_file in "$work"/here/*.json "$work/here/config"; do
        ! "$1" config check "$produced_file" > /dev/null 2>&1 ||
            produced_keep_config "$produced_file"
    done
    # Pages of a database part lines wherever they end.
    find "$work" -type f ! -path "$work/produced" ! -name '*.db' ! -name '*.db-*' > "$work/files"
    while read -r produced_file; do
        produced_keep "$produced_file"
    done < "$work/files"
    [ -s "$work/produced" ] || return 0
    # A test of large input writes much of the same: some will do.
    sort -u "$work/produced" | awk 'NR <= 200' > "$BACKTRAIL_TEST_PRODUCED.part"
    mv "$BACKTRAIL_TEST_PRODUCED.part" "$BACKTRAIL_TEST_PRODUCED.jsonl"
}
