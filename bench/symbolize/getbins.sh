#!/bin/bash
# getbins.sh -- two big C++ programs with their debug information, as Debian 12 packages
# them (gcc 12, DWARF 5): libjvm.so of OpenJDK 17, and ceph-osd.
# usage: bench/symbolize/getbins.sh DIR
#
# Leaves DIR/libjvm.so and DIR/ceph-osd: program and debug file in one, sections not
# compressed. Downloads 0.8 GB and needs 4 GB of disk while it runs, 1.1 GB afterwards.
# Wants apt-get with a source of Debian 12, eu-unstrip (elfutils) and binutils.
set -euo pipefail
[ $# -eq 1 ] || {
    echo "usage: $0 DIR" >&2
    exit 2
}
for tool in apt-get dpkg-deb eu-unstrip readelf objcopy; do
    command -v $tool > /dev/null || {
        echo "$0: $tool is missing: install apt, dpkg, elfutils and binutils" >&2
        exit 1
    }
done
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$(mktemp -d "$out/getbins.XXXXXX")
trap 'rm -rf "$work"' EXIT

# merge FILE NAME: FILE of the unpacked packages with its debug file, as OUT/NAME.
merge()
{
    local id debug
    id=$(readelf -n "$1" 2> /dev/null | sed -n 's/.*Build ID: //p')
    debug=root/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
    [ -n "$id" ] && [ -f "$debug" ] || {
        echo "$0: $1 and its -dbg package are of different builds" >&2
        exit 1
    }
    eu-unstrip -o merged "$1" "$debug"
    objcopy --decompress-debug-sections merged "$out/$2"
    rm merged
}

# fetch PACKAGE...: unpacked, not installed.
fetch()
{
    local package
    rm -rf root
    for package in "$@"; do
        apt-get download -q "$package"
        dpkg-deb -x "$package"_*.deb root
        rm -- "$package"_*.deb
    done
}

cd "$work"
fetch openjdk-17-jre-headless openjdk-17-dbg
merge root/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so libjvm.so
fetch ceph-osd ceph-osd-dbg
merge root/usr/bin/ceph-osd ceph-osd
ls -l "$out/libjvm.so" "$out/ceph-osd"
