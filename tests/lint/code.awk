# code.awk -- C without its comments and without what its strings say.
#
# Prints "file:line:code" for every line, so that a search sees code only and still
# knows where it is. With -v strings=1 the contents of strings are kept; with
# -v comments=1 it is the other way round, and comments are all that is printed.

FNR == 1 { comment = 0 }
{
    out = said = ""
    quote = ""
    for (i = 1; i <= length($0); i++) {
        c = substr($0, i, 1)
        two = substr($0, i, 2)
        if (comment) {
            if (two == "*/") { comment = 0; i++; out = out " " }
            else said = said c
        } else if (quote != "") {
            if (c == "\\") { if (strings) out = out two; i++ }
            else if (c == quote) { quote = ""; out = out c }
            else if (strings) out = out c
        } else if (two == "/*") { comment = 1; i++ }
        else if (two == "//") { said = said substr($0, i + 2); break }
        else {
            if (c == "\"" || c == "'") quote = c
            out = out c
        }
    }
    print FILENAME ":" FNR ":" (comments ? said : out)
}
