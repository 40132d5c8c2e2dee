#!/usr/bin/env bash
# A file of src/ includes its own floor and those beneath it. Prints each line that does not.
set -eu
cd "$(dirname "$0")/.."

declare -A below=(
    [base]='base'
    [math]='base math'
    [cone]='base math cone'
    [dual]='base math cone dual'
    [solver]='base math cone dual solver'
    [model]='base math model'
    [collide]='base math model collide'
    [sim]='base math cone dual solver model collide sim'
    [bench]='base math cone dual solver model collide sim bench'
)

bad=0
while IFS=: read -r file line text; do
    floor=${file#src/}
    floor=${floor%%/*}
    path=$(sed -E 's/^ *# *include *"([^"]*)".*/\1/' <<<"$text")
    target=${path%%/*}
    if [ -z "${below[$floor]:-}" ]; then
        echo "$file:$line: unknown floor '$floor'; known: ${!below[*]}"
        bad=1
    elif [ "$path" != kl.h ] && [[ " ${below[$floor]} " != *" $target "* ]]; then
        echo "$file:$line: '$floor' may include ${below[$floor]// /, }, not: $path"
        bad=1
    fi
done < <(grep -rnE '^ *# *include *"' src --include='*.c' --include='*.h' | grep -v '^src/kl\.h')
exit $bad
