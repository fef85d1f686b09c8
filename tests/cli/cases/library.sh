# The program in the head of sonde.h, built with libsonde.a, on a simulated GPU.
example=$(dirname "$SONDE")/example
[ -x "$example" ] || { echo "the example is not built (make check builds it)"; exit 77; }
"$example"
