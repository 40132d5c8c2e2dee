#!/bin/sh
# Every relative link and picture in a *.md file names a file that is there; prints the ones that do not.
# Anchors of pages on the net are not looked at; anchors within a file must be one of its headings.
cd "$(dirname "$0")/../.." || exit 1
find . \( -name node_modules -o -name .git -o -name 'build*' -o -name dist -o -name .cache \) -prune -o -name '*.md' -print |
    sort | xargs awk '
    function slug(text) {
        text = tolower(text)
        gsub(/[^a-z0-9 _-]/, "", text)
        gsub(/ /, "-", text)
        return text
    }
    FNR == 1 { fenced = 0; folder = FILENAME; sub(/[^\/]*$/, "", folder) }
    /^ *```/ { fenced = !fenced; next }
    fenced { next }
    /^#+ / { text = $0; sub(/^#+ */, "", text); heading[FILENAME "#" slug(text)] = 1 }
    {
        line = $0
        gsub(/`[^`]*`/, "", line)  # code
        while (match(line, /\]\([^) ]+/) || match(line, /src="[^"]+/)) {
            link = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            sub(/^\]\(/, "", link); sub(/^src="/, "", link)
            if (link ~ /^[a-z]+:/) continue
            links++
            where[links] = FILENAME ":" FNR
            target[links] = link
            base[links] = folder
            self[links] = FILENAME
        }
    }
    END {
        for (i = 1; i <= links; i++) {
            file = target[i]; anchor = ""
            if (match(file, /#.*/)) { anchor = substr(file, RSTART); file = substr(file, 1, RSTART - 1) }
            path = file == "" ? self[i] : base[i] file
            if (system("test -e \"" path "\"") != 0) { print where[i] ": there is no " target[i]; bad++ }
            else if (anchor != "" && path ~ /\.md$/ && file == "" && !((self[i] anchor) in heading)) {
                print where[i] ": no heading for " target[i]; bad++
            }
        }
        printf "%d links, %d broken\n", links, bad
        exit bad > 0 || links == 0
    }'
