#!/bin/sh
# Keeps the orders that make sense: four fields, a date, a whole quantity above
# zero and a price. The others go to rejected.csv. Fails if nothing is left.
set -eu
cd "${TMPDIR:-/tmp}/ax-nightly"

awk -F, '
    NR == 1 { print > "clean.csv"; print > "rejected.csv"; next }
    NF == 4 && $1 ~ /^[0-9]+-[0-9]+-[0-9]+$/ && $2 != "" &&
    $3 ~ /^[0-9]+$/ && $3 > 0 && $4 ~ /^[0-9]+(\.[0-9]+)?$/ {
        print > "clean.csv"; kept++; next
    }
    { print > "rejected.csv"; rejected++ }
    END { printf "kept %d orders, rejected %d\n", kept, rejected; exit !kept }
' orders.csv
