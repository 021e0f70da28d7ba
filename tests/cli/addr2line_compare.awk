# addr2line_compare.awk -- what GNU addr2line and ours say differently, and whose fault it is.
#
#   awk -f addr2line_compare.awk -v file=NAME -v code="START END ..." FAULTS GNU OURS \
#       LLVM STUBS
#
# GNU, OURS and LLVM are what addr2line, ours and llvm-symbolizer (--output-style=GNU)
# print with -a -f -i for the same addresses; STUBS has "START NAME" of each entry of a
# procedure linkage table, by objdump. Prints "ADDRESS KIND..." for each address at which
# the first two differ. A difference is excused if all its kinds are listed for the file
# in FAULTS, and llvm-symbolizer says what ours does in the lines that differ; where there
# is no code, where only the name of a file is empty, and where addr2line says nothing at
# all, it is not asked, and of linkage tables objdump is. Exit code 1: one is not excused.
function number(hex, i, n) {
    sub(/^0x/, "", hex)
    for (i = 1; i <= length(hex); i++)
        n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return n
}

function is_code(address, i, n, ends) {
    n = split(code, ends, " ")
    for (i = 1; i < n; i += 2)
        if (address >= number(ends[i]) && address < number(ends[i + 1]))
            return 1
    return 0
}

# What objdump calls the entry of a linkage table that an address is in.
function stub_at(address, i, found) {
    for (i = 1; i <= stubs; i++)
        if (stub_start[i] <= address && (!found || stub_start[i] > stub_start[found]))
            found = i
    return found ? stub_name[found] : ""
}

# Line k of answer b of tool t; the address is line 0.
function line(t, b, k) { return text[t, b, k] }

function plain(place) {
    sub(/ \(discriminator [0-9]+\)$/, "", place)
    return place
}

function count_of(place) {
    sub(/.*:/, "", place)
    return place
}

function file_of(place) {
    sub(/:[^:]*$/, "", place)
    return place
}

# What llvm-symbolizer calls by the symbol, others call by the function.
function stem(name, at) {
    at = match(name, /\.[a-z_]+(\.[0-9]+)*(\.[a-z_]+)*/)
    return at > 1 ? substr(name, 1, at - 1) : name
}

function is_llvm_with_us(b, k, ours, llvm) {
    if (lines[3, b] != lines[2, b])
        return 0
    for (k = 1; k <= lines[2, b]; k++) {
        ours = line(2, b, k)
        if (lines[1, b] == lines[2, b] && line(1, b, k) == ours)
            continue
        llvm = line(3, b, k)
        if (k % 2) {
            ours = stem(ours)
            llvm = stem(llvm)
        } else {
            sub(/:\?$/, ":0", ours)
        }
        if (ours != llvm)
            return 0
    }
    return 1
}

# Whether theirs is ours with the directory that ours begins with once more in front.
function is_doubled(theirs, ours, n) {
    n = length(theirs) - length(ours) - 1
    return n > 0 && theirs == substr(ours, 1, n) "/" ours
}

function kind_of_place(theirs, ours, k) {
    if (k > 2 && plain(theirs) == ours)
        return "discriminator"
    if (theirs ~ /^:\?$/ && ours == "??:?")
        return "file-without-name"
    if (is_doubled(theirs, ours))
        return "doubled-directory"
    if (theirs ~ /<artificial>:/ && count_of(plain(theirs)) == count_of(plain(ours)))
        return "artificial"
    if (theirs ~ /^[^\/:]+:\?$/ && ours == "??:?")
        return "file-of-a-global"
    if (theirs ~ /\// && count_of(theirs) == count_of(ours))
        return "other-file"
    if (file_of(theirs) == file_of(ours))
        return "folded"
    return "place"
}

# The kinds of one answer, each once; "" if both are the same.
function kinds(b, k, found, kind, all) {
    for (k = 0; k <= lines[1, b] || k <= lines[2, b]; k++)
        found = found || line(1, b, k) != line(2, b, k)
    if (!found)
        return ""
    if (!is_code(number(line(2, b, 0)))) {
        if (line(2, b, 1) " " line(2, b, 2) != "?? ??:0")
            return " other"
        return line(1, b, 2) ~ /:[0-9]+$/ ? " declaration" : " data"
    }
    if (lines[1, b] < lines[2, b])
        return " lost-calls"
    if (lines[1, b] > lines[2, b])
        return " other"
    if (line(2, b, 1) == "??" && lines[2, b] == 2 && line(2, b, 2) == "??:0")
        return " beyond-the-end"
    if (line(2, b, 1) ~ /@plt$/ && lines[2, b] == 2)
        return " stub"
    if (line(1, b, 1) == "??" && line(1, b, 2) == "??:0" && line(2, b, 2) == "??:?")
        return " dynamic-symbol"
    all = ""
    for (k = 1; k <= lines[1, b]; k++) {
        if (line(1, b, k) == line(2, b, k))
            continue
        if (k % 2 == 0)
            kind = kind_of_place(line(1, b, k), line(2, b, k), k)
        else if (line(2, b, k) == "??")
            kind = "beyond-the-end"
        else if (stem(line(1, b, k)) == line(2, b, k))
            kind = "symbol-for-function"
        else if (lines[1, b] == 2)
            kind = "alias"
        else if (line(1, b, k) == line(1, b, lines[1, b] - 1))
            kind = "name-of-the-outermost"
        else
            kind = "name"
        if (index(all " ", " " kind " ") == 0)
            all = all " " kind
    }
    return all
}

function show(b, t, k) {
    split("GNU ours llvm", names, " ")
    for (t = 1; t <= 3; t++)
        for (k = 0; k <= lines[t, b]; k++)
            printf "%-5s %s\n", names[t], line(t, b, k) > "/dev/stderr"
}

# Whether another reader says what ours does, where one has to be asked.
function is_agreed(b, all) {
    if (all == " stub")
        return line(2, b, 1) == stub_at(number(line(2, b, 0)))
    return all ~ /^ (data|declaration|file-without-name|dynamic-symbol)$/ ||
        is_llvm_with_us(b)
}

FNR == 1 { tool++ }

tool == 1 {
    if ($0 !~ /^#/ && NF && ($2 == file || $2 == "*"))
        listed[$1] = 1
    next
}

tool == 5 {
    stub_start[++stubs] = number($1)
    stub_name[stubs] = $2
    next
}

/^0x[0-9a-f]+$/ {
    blocks[tool - 1]++
    lines[tool - 1, blocks[tool - 1]] = 0
    text[tool - 1, blocks[tool - 1], 0] = sprintf("0x%x", number($0))
    next
}

{ text[tool - 1, blocks[tool - 1], ++lines[tool - 1, blocks[tool - 1]]] = $0 }

END {
    if (blocks[1] != blocks[2] || blocks[1] != blocks[3]) {
        print blocks[1] " answers of GNU, " blocks[2] " of ours, " blocks[3] \
            " of llvm" > "/dev/stderr"
        exit 1
    }
    for (b = 1; b <= blocks[1]; b++) {
        all = kinds(b)
        if (all == "")
            continue
        print line(2, b, 0) all
        excused = is_agreed(b, all)
        if (!excused)
            all = all " (and another reader says something else)"
        n = split(all, one, " ")
        for (i = 1; i <= n; i++)
            excused = excused && one[i] in listed
        if (!excused) {
            print file ":" all > "/dev/stderr"
            show(b)
            bad = 1
        }
    }
    exit bad
}
