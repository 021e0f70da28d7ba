#!/bin/sh
# usage.sh -- the command line itself: what tells about it, and what is wrong with it.
. "$(dirname "$0")/lib.sh"

# The verbs, as docs/cli.md has them. `addr2line` has the exit codes of GNU's.
verbs=$(sed -nE 's/^### `([a-z0-9-]+)`$/\1/p' "$source/docs/cli.md" | grep -vx addr2line)

# page VERB WORD...: what the words print is the usage page of the verb.
page()
{
    verb=$1
    shift
    run "$@"
    expect_status 0
    expect_empty err
    head -n 1 out | grep -q "^usage: backtrail $verb \[OPTION" || fail "$said: no usage" out
    expect out "-h, --help " \
        "exit: 0 done, 1 something could not be used, 2 wrong command line"
}

test_every_verb_tells_its_usage_whichever_way_it_is_asked()
{
    for verb in $verbs; do
        page "$verb" "$verb" --help
        mv out first
        page "$verb" "$verb" -h
        expect_same out first
        page "$verb" help "$verb"
        expect_same out first
    done
}

test_help_lists_every_verb()
{
    sed -nE 's/^### `([a-z0-9-]+)`$/\1/p' "$source/docs/cli.md" | sort > wanted
    for words in help --help -h; do
        run "$words"
        expect_status 0
        expect_empty err
        expect out "usage: backtrail VERB"
        sed -nE 's/^  ([a-z0-9-]+) .*/\1/p' out | sort > listed
        expect_same listed wanted
        refute out "more:"
    done
}

test_the_version_is_told_with_the_plugin_interfaces()
{
    for words in version --version -V; do
        run "$words"
        expect_status 0
        expect_empty err
        grep -qE '^backtrail [0-9]+\.[0-9]+\.[0-9]+$' out || fail "$said" out
        grep -qE '^symbolizer ABI [0-9]+, shape [0-9a-f]{8}$' out || fail "$said" out
        grep -qE '^sink ABI [0-9]+, shape [0-9a-f]{8}$' out || fail "$said" out
    done
}

test_a_missing_or_unknown_verb_is_refused()
{
    run
    refused 2 "no verb" "'backtrail help'"
    run reslove
    refused 2 "'reslove'" "'backtrail help'"
    run ''
    refused 2 "''" "'backtrail help'"
    run help reslove
    refused 2 "'reslove'" "'backtrail help'"
}

test_an_unknown_option_is_refused_by_name_in_every_verb()
{
    for verb in $verbs; do
        run "$verb" --bogus
        refused 2 "$verb: unknown option '--bogus'" "'backtrail $verb --help'"
        run "$verb" -zh
        refused 2 "$verb: unknown option '-z'" "'backtrail $verb --help'"
    done
}

test_an_option_without_its_argument_is_refused()
{
    for option in -e --exe --style --plugin --platform --symbols --config --plugin-path; do
        run resolve $option
        refused 2 "option '$option' wants an argument" "'backtrail resolve --help'"
    done
    run config check --config
    refused 2 "option '--config' wants an argument" "'backtrail config --help'"
}

test_an_argument_to_an_option_that_takes_none_is_refused()
{
    run resolve --json=yes
    refused 2 "option '--json' takes no argument" "'backtrail resolve --help'"
    run plugins --json=yes
    refused 2 "option '--json' takes no argument" "'backtrail plugins --help'"
}

test_a_style_or_platform_that_does_not_exist_is_refused()
{
    for option in style platform; do
        for value in bogus '' jso; do
            run resolve -e "$fixtures/x64-gcc-dw5-O2" --$option "$value" 0x401000
            refused 2 "'$value' cannot be used with '--$option'" "'backtrail resolve --help'"
        done
        run resolve --$option=bogus x
        refused 2 "'bogus' cannot be used with '--$option=bogus'" "--help"
    done
}

test_arguments_too_many_or_too_few_are_refused()
{
    run version now
    refused 2 "'now'" "'backtrail version --help'"
    run plugins elfdwarf
    refused 2 "'elfdwarf'" "'backtrail plugins --help'"
    run help raw config
    refused 2 "'config'" "'backtrail help --help'"
    run raw
    refused 2 "wants one file" "'backtrail raw --help'"
    run raw one two
    refused 2 "wants one file" "'backtrail raw --help'"
    run resolve
    refused 2 "nothing to resolve" "'backtrail resolve --help'"
    run resolve one two
    refused 2 "one trace file at a time" "'backtrail resolve --help'"
    run config
    refused 2 "check" "'backtrail config --help'"
    run config chekc
    refused 2 "'chekc'" "check" "'backtrail config --help'"
    run config check one two
    refused 2 "one file at a time" "'backtrail config --help'"
}

# each COMMAND...: run it with standard output full, then closed.
each()
{
    said="$*"
    for output in full closed; do
        status=0
        if [ $output = full ]; then
            "$@" > /dev/full 2> err || status=$?
        else
            "$@" >&- 2> err || status=$?
        fi
        : > out
        refused 1 "standard output: cannot be written"
    done
}

test_output_that_does_not_get_out_is_a_failure()
{
    file=$fixtures/x64-gcc-dw5-O2
    trace good > good.jsonl
    echo 0x401000 > addresses
    each "$program" version
    each "$program" help resolve
    each "$program" plugins
    each "$program" plugins --json
    each "$program" raw good.jsonl
    each "$program" resolve good.jsonl
    each "$program" resolve --style text good.jsonl
    each "$program" resolve -e "$file" 0x401000
    each "$program" resolve --json -e "$file" 0x401000
    each sh -c '"$1" resolve --json -e "$2" < addresses' sh "$program" "$file"
}

the_test
