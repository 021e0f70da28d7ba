# options.awk -- the options that a usage page or a man page as plain text tells of, one a
# line: the names and the argument, a tab, the explanation.
#
# A line that begins with a dash at the indentation of the first such line is an option;
# what follows two spaces, or stands deeper below it, is its explanation.
function flush() {
    if (left != "") {
        sub(/^ +/, "", text)
        print left "\t" text
    }
    left = text = ""
}
BEGIN { inside = 0 }
# A usage page has "options:" or a title of its own over each group.
/^(OPTIONS|options:)$/ { inside = 1; next }
/^[A-Z ]+$/ { flush(); inside = 0; next }
/^[a-zA-Z].*:$/ && !man { flush(); inside = !/^(examples|commands):$/; next }
/^[^ ]/ { flush(); if (!man) inside = 0; next }
!inside { next }
/^ +-/ && match($0, /^ +/) && RLENGTH <= 7 {
    flush()
    line = substr($0, RLENGTH + 1)
    at = index(line, "  ")
    left = at ? substr(line, 1, at - 1) : line
    if (at)
        text = substr(line, at)
    gsub(/^ +| +$/, "", left)
    next
}
/^ +[^ ]/ {
    match($0, /^ +/)
    if (man && RLENGTH < 7) { flush(); next } # the title of a group
    line = $0
    sub(/^ +/, "", line)
    text = text " " line
}
/^$/ { flush() }
END { flush() }
{ gsub(/ +/, " ", text) }
