# compare.awk -- our frames against gdb's: both files have a frame a line, as
# "address<TAB>name<TAB>linkage name<TAB>line". Prints what differs.
#
# A function is the same if its linkage name is, or its name without arguments, template
# arguments and what glibc's own aliases have before or behind it. Where gdb knows no line neither need we.
# With `no_line` the function of that name needs none: see matrix.sh.
BEGIN { FS = "\t" }

function plain(name) {
    gsub(/ /, "", name)
    if (name !~ /operator\(/)
        sub(/\(.*/, "", name)
    gsub(/::</, "<", name)
    sub(/^__GI_/, "", name)
    sub(/^_+/, "", name)
    sub(/_local$/, "", name)
    return name
}

FNR == NR { gdb[++count] = $0; next }

{
    split(gdb[FNR], theirs, FS)
    if (FNR > count)
        next # gdb stops at main, or a stack is longer than it was asked for
    same = $3 == theirs[3] && $3 != "-" || plain($2) == plain(theirs[2]) ||
           plain($2) == plain(theirs[3])
    lacks = $4 == 0 && no_line != "" && plain($2) == no_line
    if ($1 != theirs[1] || !same || theirs[4] && $4 != theirs[4] && !lacks) {
        print "frame " FNR - 1 ":\n  gdb  " gdb[FNR] "\n  ours " $0
        bad = 1
    }
    seen = FNR
}

END {
    if (!count)
        print "gdb knows no frame"
    else if (seen < count && seen < 128)
        print "gdb has " count " frames, we have " seen
    exit bad || !count || seen < count && seen < 128
}
