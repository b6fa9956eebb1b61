#!/bin/sh
# Adds up the clean orders by product.
set -eu
cd "${TMPDIR:-/tmp}/ax-nightly"

awk -F, '
    NR > 1 { count[$2] += $3; total[$2] += $3 * $4; sum += $3 * $4 }
    END {
        for (product in total)
            printf "%-10s %6d %10.2f\n", product, count[product], total[product] | "sort"
        close("sort")
        printf "%-10s %6s %10.2f\n", "total", "", sum
    }
' clean.csv > report.txt
cat report.txt
