# rows.awk -- `readelf --debug-dump=frames-interp` as the lines of print_rows.
#
# Variables: section. An entry without a row of its own has its CIE's; of rows at one
# address the last counts.

function flush_entry() {
    if (in_fde && !rows && (cie in first_row))
        print start " " first_row[cie]
    if (held != "")
        print held
    held = ""
    in_fde = 0
}

function normal(    text, i, value) {
    text = $2
    for (i = 3; i <= NF && i - 3 < columns; i++) {
        value = $i
        if (value != "u")
            text = text " " column[i - 3] "=" value
    }
    return text
}

/^Contents of the / {
    flush_entry()
    wanted = index($0, " " section " ") > 0
    next
}
!wanted || $2 == "ZERO" { next }
{ gsub(/ \([a-z0-9]+\)/, "") } # a register's name behind its number
/ CIE / {
    flush_entry()
    current_cie = $1
    kind = "cie"
    columns = 0
    next
}
/ FDE / {
    flush_entry()
    cie = $0
    sub(/.* cie=/, "", cie)
    sub(/ .*/, "", cie)
    start = $0
    sub(/.* pc=/, "", start)
    end = start
    sub(/\.\..*/, "", start)
    sub(/.*\.\./, "", end)
    kind = "fde"
    in_fde = start != end
    rows = 0
    columns = 0
    next
}
$1 == "LOC" {
    columns = 0
    for (i = 3; i <= NF; i++)
        column[columns++] = $i
    next
}
kind == "cie" && NF >= 2 && $1 ~ /^[0-9a-f]+$/ {
    first_row[current_cie] = normal()
    next
}
in_fde && NF >= 2 && $1 ~ /^[0-9a-f]+$/ {
    rows++
    if (held != "" && substr(held, 1, length($1)) != $1)
        print held
    held = $1 " " normal()
}
END { flush_entry() }
