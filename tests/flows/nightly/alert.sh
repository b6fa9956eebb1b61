#!/bin/sh
# Says that something failed. A real flow would send a mail here.
set -eu
products=${TMPDIR:-/tmp}/ax-nightly

mkdir -p "$products"
echo "$(date): $1" | tee "$products/alert.txt"
