# What shells complete by names all commands and options, and is read by those
# shells that are here.
for shell in bash zsh fish; do
    "$SONDE" --completion $shell >$shell || echo "status $?"
    for word in topology explain json color studies; do
        grep -q -- "$word" $shell || echo "$shell: no $word"
    done
    if command -v $shell >/dev/null; then $shell -n $shell || echo "$shell cannot read it"; fi
done
if command -v bash >/dev/null; then
    PATH=$(dirname "$SONDE"):$PATH bash -c '. ./bash
        complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sonde; echo "${COMPREPLY[@]}"; }
        complete_words sonde top
        complete_words sonde run lat
        complete_words sonde report --co
        complete_words sonde report t
        complete_words sonde help to
        complete_words sonde --rec'
else
    echo "topology
latency
--color

topology
--record"
fi
# Sourced by a shell that has set up nothing.
PATH=$(dirname "$SONDE"):$PATH
if command -v zsh >/dev/null; then
    ZDOTDIR=$PWD zsh -f -c '. ./zsh' || echo "zsh cannot source it"
fi
if command -v fish >/dev/null; then
    HOME=$PWD fish -c 'source ./fish; complete -C "sonde run lat"; complete -C "sonde help topo"'
else
    echo "latency
topology"
fi
