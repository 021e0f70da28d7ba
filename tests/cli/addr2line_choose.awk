# addr2line_choose.awk -- picks addresses of a program to ask about, the same every time.
#
#   readelf -SW FILE | awk -f addr2line_choose.awk -v count=500 [-v from=.text -v offsets=1]
#
# Of each section in memory the first and last bytes, their neighbours and the middle;
# then all of .text if there is room, else bytes of it at random, and a few far off. With
# `from`, offsets into that section alone, and a few behind its end. Below 2 GiB only.
function number(hex, i, n) {
    for (i = 1; i <= length(hex); i++)
        n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
    return n
}

# Park and Miller's generator: awk's own differs from one awk to the next.
function random(below) {
    seed = (seed * 16807) % 2147483647
    return seed % below
}

function pick(address) {
    if (address >= 0 && address < 2147483647 && picked < count) {
        printf "%x\n", address
        picked++
    }
}

BEGIN { seed = 20261130 }

{ sub(/^ *\[ *[0-9]+\] /, "") }

$1 ~ /^\./ && $7 ~ /A/ {
    start = number($3)
    size = number($5)
    if ($1 == ".text") {
        text = start
        text_size = size
    }
    if (from == "") {
        pick(start - 1)
        pick(start)
        pick(start + int(size / 2))
        pick(start + size - 1)
        pick(start + size)
    }
}

END {
    base = from == "" ? text : 0
    if (text_size <= count - picked)
        for (i = 0; i < text_size; i++)
            pick(base + i)
    while (text_size && picked < count)
        pick(random(20) ? base + random(text_size) : random(base + 2 * text_size))
}
