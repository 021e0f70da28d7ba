#!/bin/sh
# built.sh -- builds one program and compares what we say of it with llvm-symbolizer.
# usage: built.sh KIND SOURCE_DIR [OPTION of agreement.py...]
#        built.sh KIND SOURCE_DIR --map-equal MAP_EQUAL PLUGIN.so
# The second compares the plugin elfdwarf with an origin map it makes.
# Exits 77 if the compiler is not there.
set -eu
kind=$1 source=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cd "$work"

need()
{
    command -v "$1" > /dev/null || {
        echo "skipped: no $1"
        exit 77
    }
}

# c COMPILER FLAG...: some of our own stages, as a library: real code, whoever builds it.
c()
{
    need "$1"
    "$@" -O2 -fPIC -shared -std=c11 -I"$source" -I"$source/include" -o program \
        "$source"/core/trace/*.c "$source"/core/report/*.c
}

cpp()
{
    need "$1"
    "$@" -std=c++17 -pthread -o program "$here/service.cpp"
}

rust()
{
    need rustc
    rustc --edition 2021 "$@" -o program "$here/service.rs"
}

case $kind in
c_gcc) c gcc -gdwarf-5 ;;
c_gcc_dwarf2) c gcc -gdwarf-2 -gstrict-dwarf ;;
c_gcc_dwarf3) c gcc -gdwarf-3 ;;
c_gcc_dwarf64) c gcc -gdwarf-5 -gdwarf64 ;;
c_gcc_lto) c gcc -gdwarf-5 -flto=2 ;;
c_gcc_compressed) c gcc -gdwarf-5 -gz=zlib ;;
c_clang) c clang-14 -gdwarf-4 ;;
c_clang_zstd)
    need llvm-objcopy-19
    c clang-14 -gdwarf-5
    llvm-objcopy-19 --compress-debug-sections=zstd program
    ;;
c_clang_split) c clang-14 -gdwarf-5 -gsplit-dwarf ;;
c_clang_package)
    need llvm-dwp-19
    c clang-14 -gdwarf-5 -gsplit-dwarf
    llvm-dwp-19 -e program -o program.dwp
    rm -- *.dwo
    ;;
c_gcc_split) c gcc -gdwarf-4 -gsplit-dwarf ;;
cpp_gcc) cpp g++ -O2 -gdwarf-5 ;;
cpp_gcc_unoptimized) cpp g++ -O0 -gdwarf-5 -fdebug-types-section ;;
cpp_gcc_dwarf4) cpp g++ -O3 -gdwarf-4 ;;
cpp_clang) cpp clang++-14 -O2 -gdwarf-5 ;;
cpp_clang_dropped)
    need ld.lld-14
    cpp clang++-14 -O1 -gdwarf-5 -fuse-ld=lld-14 -ffunction-sections -Wl,--gc-sections \
        -Wl,--icf=none
    ;;
cpp_clang_lines_only) cpp clang++-14 -O2 -gline-tables-only ;;
rust) rust -C debuginfo=2 -C opt-level=3 ;;
rust_unoptimized) rust -C debuginfo=2 ;;
rust_lines_only) rust -C debuginfo=1 -C opt-level=3 ;;
go)
    need go
    GOCACHE=$work/cache GOPATH=$work/path GO111MODULE=off GOTOOLCHAIN=local \
        go build -o program "$here/service.go"
    ;;
*)
    echo "built.sh: no program is called $kind" >&2
    exit 2
    ;;
esac
if [ "$1" = --map-equal ]; then
    "$2" "$3" trail_symbolizer_elfdwarf program
    exit
fi
BACKTRAIL_STATE=$work/state BACKTRAIL_CONFIG='' python3 "$here/agreement.py" "$@" program
