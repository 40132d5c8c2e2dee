# Doxygen's view of src/kl.h, whose comments are plain ones. A comment before declarations documents each
# of them up to the next blank line, one behind a declaration adds to it, a title between rules opens a
# group, the file's first comment is the conventions.   Usage: awk -f docs/doxygen.awk src/kl.h

function without_slashes(text) {
    sub(/^[ \t]*\/\/ ?/, "", text)
    return text
}

# Signs that Doxygen would read as markup.
function plain(text) {
    gsub(/&/, "\\&amp;", text)
    gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    gsub(/[*#@|]/, "\\\\&", text)
    return text
}

function joined(a, b, separator) {
    return a == "" ? b : b == "" ? a : a separator b
}

# The code of a line, and its trailing comment added to `note`.
function split_note(line, at) {
    if (!open_statement) flush_held()
    at = index(line, "//")
    code = at ? substr(line, 1, at - 1) : line
    sub(/ +$/, "", code)
    if (at) {
        note = joined(note, without_slashes(substr(line, at)), "\n")
        note_column = at
    }
}

function print_documented(code, doc) {
    if (doc != "") print "/** " plain(doc) " */"
    print code
}

# Several names in one declaration share its comment, which Doxygen wants once for each.
function print_split(code, doc, indent, type, end, count, names, i) {
    indent = code; sub(/[^ ].*/, "", indent)
    sub(/^ */, "", code)
    if (in_enum) {
        count = split(code, names, /, */)
        for (i = 1; i <= count; i++) if (names[i] != "") print_documented(indent names[i] (i < count ? "," : ""), doc)
        return
    }
    match(code, /^(const )?(struct )?[A-Za-z0-9_]+ /)
    type = substr(code, 1, RLENGTH)
    end = substr(code, RLENGTH + 1)
    sub(/;$/, "", end)
    count = split(end, names, /, */)
    for (i = 1; i <= count; i++) print_documented(indent type names[i] ";", doc)
}

# What is held is complete once the next line does not continue its comment.
function flush_held() {
    if (held != "") {
        doc = joined(depth ? member_doc : top_doc, note, "\n\n")
        if (depth && held !~ /[({}]/) print_split(held, doc)
        else print_documented(held, doc)
    }
    held = note = ""
}

function close_group() {
    if (grouped) print "/** @} */"
    grouped = 0
}

function open_group(id) {
    close_group()
    id = tolower(title)
    sub(/ *[:,(].*/, "", title)
    sub(/[:,(].*/, "", id)
    gsub(/[^a-z0-9]+/, "_", id)
    sub(/_$/, "", id)
    print "/** @defgroup api_" id " " title "\n" plain(rest) "\n@{ */"
    grouped = 1
}

# --- the conventions: everything before the include guard
/^#ifndef KL_H/ { print "/** @file kl.h\n" plain(first) "\n@verbatim\n" conventions "\n@endverbatim */"; begun = 1 }
!begun {
    if (NR <= 2) first = joined(first, without_slashes($0), "\n")
    else conventions = joined(conventions, without_slashes($0), "\n")
    next
}

# --- titles between two rules
/^\/\/ -----/ {
    flush_held()
    ruled = !ruled
    if (!ruled) open_group()
    title = rest = top_doc = ""
    next
}
ruled {
    if (title == "") title = rest = without_slashes($0)
    else rest = rest "\n" without_slashes($0)
    next
}

# --- comments of their own line
/^ *\/\// {
    text = without_slashes($0)
    if (held != "" && note != "" && index($0, "//") >= note_column - 4 && index($0, "//") > 8) {
        note = note "\n" text
        next
    }
    flush_held()
    if (depth) member_doc = in_comment ? member_doc "\n" text : text
    else top_doc = in_comment ? top_doc "\n" text : text
    in_comment = 1
    next
}
{ in_comment = 0 }

/^ *$/ { flush_held(); if (depth) member_doc = ""; else top_doc = ""; print; next }
/^#define KL_[A-Z_]+ / {
    split_note($0)
    print_documented(code, joined(top_doc, note, "\n\n"))
    note = ""
    next
}
/^#|^extern "C"|^}$/ { flush_held(); top_doc = ""; print; next }

/^}/ { flush_held(); depth = in_enum = open_statement = 0; print; next }

# --- declarations
{
    split_note($0)
    if (open_statement) {
        held = held "\n" code
    } else {
        held = code
    }
}
{
    if (code ~ /^typedef (struct|enum) [A-Za-z]+ {$/) {
        flush_held()
        depth = 1
        in_enum = code ~ /enum/
        member_doc = ""
        open_statement = 0
    } else {
        ends = depth && in_enum ? "[,A-Z0-9]$" : ";$"
        open_statement = code !~ ends
    }
    # A comment within a structure stands before one member.
    if (held != "" && !open_statement && member_doc != "") { flush_held(); member_doc = "" }
}
END { flush_held(); close_group() }
