# A study and a probe in words: each is named and says something.
for name in latency chase; do
    "$SONDE" explain $name >words || exit 1
    [ "$(wc -l <words)" -gt 3 ] || echo "$name: too short"
    grep -q $name words || echo "$name: not named"
    grep -n '.\{101\}' words
done
exit 0
