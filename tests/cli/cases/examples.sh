# What the documents' examples print is what the program prints.  UPDATE=1 in
# the environment writes them anew.
ln -s "$TOP/tests" "$TOP/results" "$TOP/profiles" .
for doc in docs/architecture.md docs/method.md HACKING.md; do
    sh "$TOP/tools/examples.sh" "$TOP/$doc" >doc
    if [ "${UPDATE:-}" = 1 ]; then
        cp doc "$TOP/$doc"
    fi
    diff "$TOP/$doc" doc
done
