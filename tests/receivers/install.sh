#!/bin/sh
# install.sh BUILD -- puts the npm packages of these tests into BUILD/receivers, as
# package-lock.json names them.
set -eu
[ $# -eq 1 ] || {
    echo "usage: $0 BUILD" >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1/receivers"
cp "$here/package.json" "$here/package-lock.json" "$1/receivers/"
cd "$1/receivers"
exec npm ci --ignore-scripts --no-audit --no-fund
