#!/bin/sh
# Copies the orders to where the other steps look for them. The copy gets its
# name when it is whole, so a step never sees half a file.
set -eu
source=${NIGHTLY_SOURCE:-orders.csv}
products=${TMPDIR:-/tmp}/ax-nightly

mkdir -p "$products"
rm -f "$products/report.txt" "$products/alert.txt"
cp "$source" "$products/orders.csv.part"
mv "$products/orders.csv.part" "$products/orders.csv"
echo "fetched $(wc -l < "$products/orders.csv") lines from $source"
