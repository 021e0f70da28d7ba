#!/bin/sh
# help.sh -- what the program tells about itself is one and the same on the terminal, in
# man pages, in completions and in docs/cli.md, and is what it understands.
. "$(dirname "$0")/lib.sh"

here=$source/tests/cli
backspace=$(printf '\b')

# The verbs, as the overview lists them.
verbs=$("$program" help | sed -nE 's/^  ([a-z0-9-]+) .*/\1/p')
[ "$(printf '%s\n' "$verbs" | wc -l)" -ge 7 ] || fail "help lists next to no verb: $verbs"

# options VERB: "-e, --exe FILE", a tab and the explanation; one option a line.
options()
{
    "$program" help "$1" | awk -f "$here/options.awk" | sed 's/	*$//'
}

# names VERB: each name of each option, and its argument after a space or "[=".
names()
{
    options "$1" | cut -f 1 | sed -E 's/^(-.), (--[^ =[]+)(.*)/\1\3\n\2\3/' |
        sed -E 's/^(-[^-])\[=.*/\1/'
}

# man_page PAGE: as plain text, without the marks of bold and underlined.
man_page()
{
    "$program" help --man ${1:+"$1"} > page
    mandoc -T ascii -O width=90 page | sed "s/.$backspace//g"
}

need() # COMMAND
{
    command -v "$1" > /dev/null || skip "there is no $1"
}

# flat: all of the text on one line, one space between words.
flat()
{
    tr -s ' \n' '  '
}

test_the_man_page_of_each_verb_agrees_with_its_help()
{
    need mandoc
    for verb in $verbs; do
        said="backtrail help --man $verb"
        man_page "$verb" > man
        awk -v man=1 -f "$here/options.awk" man > got
        options "$verb" > wanted
        [ -s wanted ] || fail "$verb: no option is told of" wanted
        expect_same got wanted
        flat < man > man.flat
        "$program" help "$verb" > help
        # What it is about, and the examples: a paragraph or a line each.
        sed -n '3,/^[a-zA-Z].*:$/{/^[a-zA-Z].*:$/!p}' help |
            awk -v RS= '{ gsub(/[ \n]+/, " "); print }' > texts
        sed -n '/^examples:$/,/^$/s/^  //p' help >> texts
        while IFS= read -r line; do
            expect man.flat "$(printf '%s' "$line" | flat | sed 's/^ *//')"
        done < texts
    done
}

test_every_man_page_is_without_fault()
{
    need mandoc
    "$program" help --write share
    find share/man -type f > pages
    [ "$(wc -l < pages)" -eq $(($(printf '%s\n' "$verbs" | wc -l) + 2)) ] || fail "pages are missing" pages
    while IFS= read -r page; do
        mandoc -T lint "$page" > lint || fail "$page: mandoc finds fault" lint
        if command -v man > /dev/null && command -v groff > /dev/null; then
            man --warnings -E UTF-8 -l -Tutf8 "$page" > /dev/null 2> warnings
            [ ! -s warnings ] || fail "$page: man warns" warnings
        fi
    done < pages
}

test_the_page_of_the_config_tells_every_key_and_every_option_of_a_plugin()
{
    need mandoc
    man_page config.5 > man
    sed -nE 's/^    \{ "([a-z_.]+(\[\][a-z_.]*)?)".*/\1/p' "$source/config/keys.c" > keys
    [ "$(wc -l < keys)" -gt 15 ] || fail "no keys in config/keys.c" keys
    "$program" plugins --json | "$json" -e options key >> keys
    grep -qx rotate.size keys || fail "no options of plugins" keys
    flat < man > man.flat
    for text in "in the order of its list" "The drop-ins" "is replaced, lists too" \
        BACKTRAIL_SET_app__name "FILE.d/\*.json"; do
        grep -qi -- "$text" man.flat || fail "the page does not tell of $text" man
    done
    while IFS= read -r key; do
        grep -qE "^ +$(printf '%s' "$key" | sed 's/[].[]/\\&/g') \(" man ||
            fail "the page does not tell of $key" man
    done < keys
}

# value ARGUMENT: something that an option with this argument takes.
value()
{
    case $1 in
    *'|'*) printf '%s' "$1" | sed 's/^\[//; s/|.*//' ;;
    N) echo 1 ;;
    FROM=TO) echo /from=/to ;;
    FORMAT) echo elf64-x86-64 ;;
    '[STYLE]') echo auto ;;
    *) echo here ;;
    esac
}

# accepted VERB WORD...: the parser takes the words and stumbles over the next one only.
accepted()
{
    verb=$1
    run "$@" --bogus
    refused "$usage" "unknown option '--bogus'"
}

test_every_option_that_is_told_of_is_understood()
{
    for verb in $verbs; do
        usage=2
        [ "$verb" != addr2line ] || usage=1 # as GNU addr2line has it
        names "$verb" > names
        [ -s names ] || fail "$verb: no option is told of" names
        while IFS= read -r line; do
            name=${line%%[ =[]*}
            case $line in
            -h | -H | --help) ;;
            *'[='*)
                accepted "$verb" "$name"
                accepted "$verb" "$name=$(value "[${line#*=}")"
                ;;
            *' '*)
                accepted "$verb" "$name" "$(value "${line#* }")"
                run "$verb" "$name"
                refused "$usage" "option '$name' wants an argument"
                ;;
            *) accepted "$verb" "$name" ;;
            esac
        done < names
    done
}

test_every_example_is_a_command_line_that_is_understood()
{
    for verb in $verbs; do
        [ "$verb" != version ] || continue
        "$program" help "$verb" | sed -n '/^examples:$/,/^$/s/^  \([^ ]\)/\1/p' |
            sed -nE 's/.*(^| )(backtrail[a-z0-9-]* .*)/\2/p' | sed 's/ *[|<>)&].*//' > lines
        [ -s lines ] || fail "$verb: there is no example"
        while IFS= read -r line; do
            # What is behind "--" are words of the program that is to be run.
            # shellcheck disable=SC2086 # the words of the line
            set -- ${line%% -- *}
            status=0
            command=$1
            shift
            [ "$command" = backtrail ] || set -- "${command#backtrail-}" "$@"
            "$program" "$@" --bogus > out 2> err || status=$?
            said="$line --bogus"
            expect_empty out
            expect err "unknown option '--bogus'"
        done < lines
    done
}

test_help_is_no_wider_than_eighty_columns_where_there_is_no_terminal()
{
    for verb in '' $verbs; do
        run help $verb
        awk 'length($0) > 80' out > wide
        expect_empty wide
    done
}

test_help_is_as_wide_as_the_terminal()
{
    need_terminal
    for columns in 60 100; do
        said="backtrail help help on $columns columns"
        "$build/tests/cli/cli_terminal" -w $columns "$program" help help | tr -d '\r' > out
        awk -v most=$columns 'length($0) > most' out > wide
        expect_empty wide
        awk -v least=$((columns - 15)) 'length($0) > least' out > long
        [ -s long ] || fail "$said: is not used to the full" out
    done
}

test_an_option_that_is_nearly_right_is_suggested()
{
    run resolve --symbls=x
    refused 2 "unknown option '--symbls=x', did you mean --symbols?"
    run plugins --jsno
    refused 2 "unknown option '--jsno', did you mean --json?"
    run resolve --quite-another-thing
    refused 2 "unknown option '--quite-another-thing'; see"
    run reslove
    refused 2 "unknown verb 'reslove', did you mean resolve?"
    run --bogus
    refused 2 "unknown verb '--bogus'; 'backtrail help' lists them"
    run resolve --style jsn
    refused 2 "'jsn' cannot be used with '--style', did you mean json?"
    run help --completion tcsh-like
    refused 2 "'tcsh-like' cannot be used with '--completion': it takes bash, zsh, fish"
}

test_a_long_option_may_be_cut_short_while_it_is_clear()
{
    run plugins --js --bogus
    refused 2 "unknown option '--bogus'"
    run resolve --sym x --bogus
    refused 2 "unknown option '--bogus'"
    run resolve --sy=x --bogus
    refused 2 "unknown option '--bogus'"
    run resolve --s x
    refused 2 "option '--s' may be --" "--style" "--symbols"
    run resolve --p=x
    refused 2 "option '--p=x' may be --" "--plugin, " "--platform" "--plugin-path"
}

# wanted_names VERB: what bash offers for a dash, one a line: long names, where there are.
wanted_names()
{
    options "$1" | cut -f 1 | sed -E 's/^(-.), //; s/^(-[^ =[]+).*/\1/' | sort -u
}

test_bash_completes_what_the_program_understands()
{
    "$program" help --completion bash > backtrail
    cat > complete << 'END'
. ./backtrail
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
$(complete -p "$1" | awk '{ print $3 }')
printf '%s\n' "${COMPREPLY[@]}"
END
    complete_as() { bash --norc ./complete "$@" | sort -u > got; }
    for verb in $verbs; do
        said="bash: backtrail $verb -"
        complete_as backtrail "$verb" -
        wanted_names "$verb" > wanted
        expect_same got wanted
    done
    cases complete_as
    complete_as backtrail help --completion = f
    answer fish
    complete_as backtrail help --completion =
    answer bash fish zsh
    complete_as backtrail resolve --symbols x --exe fi
    answer "file with space"
    complete_as backtrail ''
    printf '%s\n' $verbs --help --version | sort > wanted
    expect_same got wanted
    complete_as backtrail-addr2line -
    wanted_names addr2line > wanted
    expect_same got wanted
    complete_as backtrail-addr2line --style gn
    answer gnu
}

# answer WORD...: that is what was offered.
answer()
{
    printf '%s\n' "$@" > wanted
    expect_same got wanted
}

# cases COMMAND: it completes the last of its words, and leaves in `got` what is offered.
cases()
{
    mkdir directory
    touch "file with space"
    said="$1"
    "$1" backtrail reso
    answer resolve
    "$1" backtrail help --completion ''
    answer bash fish zsh
    "$1" backtrail resolve --style ll
    answer llvm
    "$1" backtrail help reso
    answer resolve
    "$1" backtrail config che
    answer check
}

test_zsh_completes_what_the_program_understands()
{
    need zsh
    need_terminal
    mkdir functions
    "$program" help --completion zsh > functions/_backtrail
    zsh -n functions/_backtrail
    set --
    for verb in $verbs; do
        set -- "$@" "backtrail $verb -"
    done
    zsh -f "$here/complete.zsh" functions "$@" > lines
    for verb in $verbs; do
        said="zsh: backtrail $verb -"
        grep "^backtrail $verb " lines | tr -s ' =' '\n\n' | sed '1,2d; /^$/d' | sort -u > got
        names "$verb" | sed -E 's/^(-[^ =[]+).*/\1/' | sort -u > wanted
        expect_same got wanted
    done
    complete_as()
    {
        zsh -f "$here/complete.zsh" functions "$*" | sed "s/^backtrail //; s/ \$//" > got
        shift
        tr ' ' '\n' < got | tail -n +"$#" | sort -u > answers
        mv answers got
    }
    cases complete_as
    complete_as backtrail -
    answer --help --version
    zsh -f "$here/complete.zsh" functions "backtrail-addr2line -" > line
    tr -s ' =' '\n\n' < line | sed '1d; /^$/d' | sort -u > got
    names addr2line | sed -E 's/^(-[^ =[]+).*/\1/' | sort -u > wanted
    expect_same got wanted
    zsh -f "$here/complete.zsh" functions "backtrail-addr2line --style gn" > line
    expect line "backtrail-addr2line --style gnu"
}

test_fish_completes_what_the_program_understands()
{
    need fish
    export HOME="$work"
    "$program" help --completion fish > backtrail.fish
    fish --no-execute backtrail.fish
    complete_as()
    {
        fish --no-config -c 'source backtrail.fish; complete -C "$argv"' "$*" |
            cut -f 1 | sort -u > got
    }
    # An option whose argument may be left out is offered with "=", too.
    for verb in $verbs; do
        said="fish: backtrail $verb -"
        complete_as backtrail "$verb" -
        sed 's/=$//' got | sort -u > plain
        names "$verb" | sed -E 's/^(-[^ =[]+).*/\1/' | sort -u > wanted
        expect_same plain wanted
    done
    cases complete_as
    complete_as backtrail help --completion=f
    answer --completion=fish
    complete_as backtrail resolve -e fi
    answer "file with space"
    complete_as backtrail help --write di
    answer directory/
    complete_as backtrail -
    answer --help --version
    complete_as backtrail-addr2line -
    sed 's/=$//' got | sort -u > plain
    names addr2line | sed -E 's/^(-[^ =[]+).*/\1/' | sort -u > wanted
    expect_same plain wanted
    complete_as backtrail-addr2line --style gn
    answer gnu
}

test_pages_and_completions_are_installed_where_they_are_looked_for()
{
    [ -d "$build/share" ] || skip "the program cannot be run where it is built"
    cmake --install "$build" --prefix "$work/prefix" > install.log
    cd "$work/prefix/share"
    for page in man1/backtrail.1 man1/backtrail-resolve.1 man5/backtrail-config.5; do
        [ -s man/$page ] || fail "$page is not installed"
    done
    grep -q 'rotate' man/man5/backtrail-config.5 || fail "no options of plugins"
    for schema in "$source"/docs/schema/*.schema.json; do
        cmp "$schema" "backtrail/schema/${schema##*/}" || fail "a schema is not installed"
    done
    for command in backtrail backtrail-addr2line; do
        [ -s bash-completion/completions/$command ] || fail "no completion for bash: $command"
        [ -s fish/vendor_completions.d/$command.fish ] || fail "no completion for fish: $command"
    done
    head -n 1 zsh/site-functions/_backtrail |
        grep -qx '#compdef backtrail backtrail-addr2line' || fail "no completion for zsh"
}

# Every variable that the code asks for, in the pages and in docs/cli.md.
test_every_variable_that_is_looked_at_is_told_of()
{
    need mandoc
    (cd "$source" && grep -rhoE '"(BACKTRAIL_[A-Z_]+[A-Z]|NO_COLOR|COLUMNS|TERM|HOME|XDG_[A-Z_]+)"' \
        agent config core plugins sinks) | tr -d '"' | sort -u > variables
    (cd "$source" && grep -rhoE '(getenv|environment)\("[A-Z_]+"' agent config core plugins sinks) |
        sed 's/.*"\(.*\)"/\1/' | sort -u >> variables
    [ "$(sort -u variables | wc -l)" -ge 9 ] || fail "few variables were found" variables
    sed -n '/^## Environment/,$p' "$source/docs/cli.md" > section
    man_page '' > man
    for variable in $(sort -u variables) BACKTRAIL_SET_KEY; do
        grep -q "^| .*\`$variable\`" section || fail "docs/cli.md does not tell of $variable"
        grep -qE "^ +$variable( |\$)" man || fail "backtrail(1) does not tell of $variable" man
    done
}

test_the_document_of_the_program_tells_of_every_verb_and_option()
{
    for verb in $verbs; do
        sed -n "/^### \`$verb\`/,/^##/p" "$source/docs/cli.md" > section
        [ -s section ] || fail "docs/cli.md: no section on $verb"
        said="docs/cli.md: $verb"
        sed -nE 's/^\| `(-[^`]*)` \| (.*) \|$/\1	\2/p' section | sed 's/\\|/|/g' > got
        options "$verb" > wanted
        expect_same got wanted
    done
}

the_test
