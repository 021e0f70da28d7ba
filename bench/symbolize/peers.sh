#!/bin/sh
# peers.sh -- builds the programs we are measured against that have no package of their
# own; each that cannot be built is left out, and standard error says why.
# usage: peers.sh OUTPUT_DIR
#
# bench-llvm    LLVM 19's symbolizer library        (llvm-19-dev, g++)
# bench-gimli   gimli's addr2line, as Debian has it (cargo, librust-addr2line-dev,
#                                                    librust-memmap2-dev)
# Nothing is fetched: cargo is given Debian's folder of crates in place of its registry.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
crates=/usr/share/cargo/registry
config=/usr/lib/llvm-19/bin/llvm-config

is_new() # PROGRAM SOURCE...
{
    [ -x "$1" ] || return 1
    program=$1
    shift
    for source in "$@"; do
        [ "$program" -nt "$source" ] || return 1
    done
}

if is_new "$out/bench-llvm" "$here/llvm_warm.cc"; then
    :
elif [ -x $config ] && command -v g++ > /dev/null; then
    # shellcheck disable=SC2046 # flags are words
    g++ -O2 $($config --cxxflags) "$here/llvm_warm.cc" -o "$out/bench-llvm" \
        $($config --ldflags) -lLLVM-19 -Wl,-rpath,"$($config --libdir)" >&2
else
    echo "symbolize: LLVM's library is left out: install llvm-19-dev and g++" >&2
fi

if is_new "$out/bench-gimli" "$here/gimli/main.rs" "$here/gimli/Cargo.toml"; then
    :
elif [ -x /usr/bin/cargo ] && [ -d $crates/addr2line-0.19.0 ]; then
    rm -rf "$out/gimli"
    cp -R "$here/gimli" "$out/gimli"
    (cd "$out/gimli" && PATH=/usr/bin:$PATH CARGO_HOME=$out/gimli/home /usr/bin/cargo build \
        --release --offline --quiet --config 'source.crates-io.replace-with="debian"' \
        --config "source.debian.directory=\"$crates\"") >&2 &&
        cp "$out/gimli/target/release/bench-gimli" "$out/bench-gimli" ||
        echo "symbolize: gimli is left out: bench/symbolize/gimli does not build" >&2
else
    echo "symbolize: gimli is left out: install cargo, librust-addr2line-dev and" \
        "librust-memmap2-dev" >&2
fi
