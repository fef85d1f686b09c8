# Files that the documents name are there: `lab.c`, `study/lab.c`,
# `src/study/lab.c`; and what they link to.
cd "$TOP" || exit 1
docs="README.md HACKING.md CHANGELOG.md docs/*.md"
find src include tests tools -type f | sed 's|^|/|' >"$OLDPWD/files"
for doc in $docs; do
    grep -o '`[a-z0-9_/]*\.\(c\|h\|def\)`' "$doc" | tr -d '`' | sort -u |
        while read -r name; do
            grep -q "/$name\$" "$OLDPWD/files" || echo "$doc: no file $name"
        done
    grep -o '](\([^)#]*\))' "$doc" | sed 's/](\(.*\))/\1/' | sort -u |
        while read -r link; do
            [ -e "$(dirname "$doc")/$link" ] || echo "$doc: no file $link"
        done
done
