# flow.awk -- the rules behind flow.sh. Input: "file:line:#directive"; `list` names the
# file that lists all sources, so that an include can be told from a foreign one.

BEGIN {
    while ((getline path < list) > 0)
        ours[path] = 1

    # Stage in core -> the stages whose headers it may include besides its own.
    sees["os"] = ""
    sees["trace"] = "os"
    sees["capture"] = "os trace"
    sees["crash"] = "os trace capture"
    sees["registry"] = "os trace"
    sees["resolve"] = "os trace registry origin"
    sees["report"] = "os trace resolve"
    sees["deliver"] = "os trace registry report"
    sees["journal"] = "os trace deliver"
    sees["config"] = "os"

    words("assert ctype errno float inttypes limits math setjmp stdalign stdarg stdatomic " \
          "stdbool stddef stdint stdio stdlib stdnoreturn string time", standard)
    # Libraries that read a format, and are the same everywhere.
    words("jansson.h zlib.h lzma.h sha2.h demangle.h libiberty/demangle.h sqlite3.h", portable)

    platform = "_WIN32|_WIN64|WIN32|_MSC_VER|__MINGW|__CYGWIN__|__APPLE__|__MACH__|__linux|" \
               "__gnu_linux__|__unix|__FreeBSD__|__NetBSD__|__OpenBSD__|__ANDROID__|" \
               "__wasi__|__wasm|__EMSCRIPTEN__|__GLIBC__|__ELF__|__x86_64|__amd64|__i386|" \
               "__aarch64|__arm|__riscv|__s390|__powerpc|__BYTE_ORDER"
}

{
    file = $0
    sub(/:.*/, "", file)
    rest = substr($0, length(file) + 2)
    line = rest
    sub(/:.*/, "", line)
    text = substr(rest, length(line) + 2)
    where = file ":" line ": "
    if (text ~ /^[ \t]*#[ \t]*include/)
        check_include(text)
    else if (text ~ /^[ \t]*#[ \t]*(if|ifdef|ifndef|elif)[^a-z]/ && text ~ platform)
        check_platform()
}

function words(string, set,    parts, count, i) {
    count = split(string, parts, " ")
    for (i = 1; i <= count; i++)
        set[parts[i]] = 1
}

# The folder that makes the rules for `path`: "core/os", "plugins/elfdwarf", "agent".
function zone(path,    parts, count) {
    count = split(path, parts, "/")
    if (count == 1)
        return "."
    if (parts[1] ~ /^(core|plugins|sinks)$/)
        return count == 2 ? parts[1] : parts[1] "/" parts[2]
    return parts[1]
}

function find(name, from,    base) {
    base = from
    sub(/[^\/]*$/, "", base)
    if ((base name) in ours) return base name
    if (name in ours) return name
    if (("include/" name) in ours) return "include/" name
    if (("core/" name) in ours) return "core/" name
    if (("plugins/" name) in ours) return "plugins/" name
    if (("tests/" name) in ours) return "tests/" name
    return ""
}

function is_standard(name) {
    return name ~ /\.h$/ && (substr(name, 1, length(name) - 2) in standard)
}

function check_platform() {
    if (file ~ /^include\/backtrail\/(base|backtrail)\.h$/ || file ~ /^(core\/os|tests|bench)\//)
        return
    print where "asks which platform this is: that is for core/os (and base.h, backtrail.h)"
}

function check_include(text,    name, target) {
    name = text
    sub(/^[^"<]*["<]/, "", name)
    sub(/[">].*/, "", name)
    target = find(name, file)
    if (name ~ /\.\.\//)
        print where "\"" name "\": no way up; name it from the root"
    else if (target != "")
        check_ours(name, target, zone(file), zone(target))
    else if (text ~ /include[ \t]*"/ || name ~ /^backtrail\//)
        check_unknown(name, zone(file))
    else
        check_foreign(name, zone(file))
}

# A name in quotes that is no source file: made by the build, or not there.
function check_unknown(name, from) {
    if (from ~ /^(plugins|sinks|examples)/ || from == "include")
        print where "\"" name "\" is not in its own folder, nor a public header"
}

function check_foreign(name, from) {
    if (from == "include" && !is_standard(name))
        print where "<" name ">: a public header includes standard headers only"
    if ((from ~ /^core/ && from != "core/os" || from ~ /^(config|origin)$/) &&
        !is_standard(name) && !(name in portable))
        print where "<" name ">: what an operating system provides is for core/os"
}

function check_ours(name, target, from, to) {
    if (from == "tests" || from == "bench" || from == to && from !~ /^(plugins|sinks)$/)
        return
    if (from == "include" || from == "examples")
        refuse_unless(to == "include", name, "is not a public header")
    else if (from ~ /^plugins/)
        refuse_unless(target ~ /^include\/backtrail\/(symbolizer|base)\.h$/ ||
                      shares(from, to) || beside(target),
                      name, "is neither symbolizer.h nor in the plugin's folder")
    else if (from ~ /^sinks/)
        refuse_unless(target ~ /^include\/backtrail\/(sink|base)\.h$/ || beside(target),
                      name, "is neither sink.h nor in the sink's folder")
    else if (from == "origin")
        refuse_unless(target == "include/backtrail/base.h", name, "is not base.h")
    else if (to ~ /^(plugins|sinks|tests|bench|examples)/)
        print where "\"" name "\" is downstream"
    else if (to == "include" || from == "agent" || from == "core")
        refuse_unless(to != "agent" || from == "agent", name, "is downstream")
    else if (from ~ /^core\// || from == "config")
        check_stage(name, target, from, to)
}

# What folders of plugins share: the two readers of ELF files see the libraries made for
# them, and the DWARF reader the form of its answers.
function shares(from, to) {
    if (from == "plugins/elfdwarf" || from == "plugins/libdw")
        return to == "plugins/elf" || to == "plugins/dwarf"
    return from == "plugins/dwarf" && to == "origin"
}

# A plugin of one file has no folder of its own: x.c may have x.h beside it.
function beside(target,    a, b) {
    a = file
    b = target
    sub(/\.[ch]$/, "", a)
    sub(/\.[ch]$/, "", b)
    return a == b
}

function check_stage(name, target, from, to,    stage) {
    stage = from
    sub(/^core\//, "", stage)
    sub(/^core\//, "", to)
    if (to == "os" && target != "core/os/os.h")
        print where "\"" name "\": os.h is the only door to core/os"
    else if (!(stage in sees))
        print where "flow.awk does not know the stage " stage
    else
        refuse_unless((" " sees[stage] " ") ~ (" " to " "), name,
                      "is not for " stage ", which sees its own folder, " sees[stage])
}

function refuse_unless(allowed, name, why) {
    if (!allowed)
        print where "\"" name "\" " why
}
