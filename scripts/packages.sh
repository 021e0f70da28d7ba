# packages.sh -- the Debian packages each job needs, and how they get there; sourced by
# the scripts beside it.

packages_build="build-essential cmake ninja-build pkg-config git
    libjansson-dev libmd-dev libcurl4-openssl-dev libdw-dev libelf-dev liblzma-dev
    zlib1g-dev libzstd-dev libiberty-dev libcapstone-dev libcmocka-dev
    libmicrohttpd-dev libsqlite3-dev"

# A debug package is named together with its program, so that their build ids match.
packages_test="universal-ctags clang-14 clang-format-14 libclang-rt-14-dev binutils
    nginx-light openssl ca-certificates mandoc man-db zsh fish llvm-19 llvm-22
    libc6 libc6-dbg python3.11 python3.11-minimal python3.11-dbg python3-jsonschema
    debuginfod libdebuginfod1 gdb procps"

# Compilers whose programs are resolved beside llvm-symbolizer, and programs that crash
# under `backtrail run`: hundreds of megabytes.
packages_full="lld-14 golang-go rustc redis-server sqlite3 nodejs"

# Compilers and emulators of other machines, and another C library. (gcc-multilib cannot
# be installed beside these.)
packages_cross="gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
    gcc-i686-linux-gnu libc6-dev-i386-cross
    gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user musl-tools"

# missing_packages PACKAGE...: those that are not installed, one a line.
missing_packages()
{
    local name installed
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2> /dev/null |
        sed -n 's/^installed //p' || true)
    for name in "$@"; do
        grep -qxF -- "$name" <<< "$installed" || printf '%s\n' "$name"
    done
}

# need_packages PACKAGE...: installs what is missing and does nothing if all is there.
need_packages()
{
    local missing as_root=()
    command -v apt-get > /dev/null && command -v dpkg-query > /dev/null || {
        echo "$0: this is no Debian; wanted are the equivalents of:" $* >&2
        return 1
    }
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null || {
            echo "$0: neither root nor sudo to install:" $missing >&2
            return 1
        }
        as_root=(sudo)
    fi
    # A server among the packages (nginx) is for the tests to start, not for the machine.
    ${as_root[@]+"${as_root[@]}"} bash -c '
        set -eu
        export DEBIAN_FRONTEND=noninteractive
        policy=/usr/sbin/policy-rc.d
        if [ ! -e $policy ]; then
            trap "rm -f $policy" EXIT
            printf "#!/bin/sh\nexit 101\n" > $policy
            chmod 755 $policy
        fi
        apt-get update -q
        apt-get install -q -y --no-install-recommends -o Acquire::Retries=3 "$@"
    ' install $missing
}
