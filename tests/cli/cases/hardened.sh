# The program is hardened as the Makefile says; one under the sanitizers, or of
# another build, is not what is asked here.
command -v readelf >/dev/null || { echo "readelf is not there"; exit 77; }
readelf -Ws "$SONDE" >symbols
! grep -q __asan_init symbols || { echo "it is built with sanitizers"; exit 77; }
readelf -h "$SONDE" | grep -o 'Type: *DYN' | tr -s ' '
readelf -lW "$SONDE" | grep -o 'GNU_RELRO'
readelf -dW "$SONDE" | grep -o 'BIND_NOW\|Flags: NOW PIE'
readelf -lW "$SONDE" | grep 'GNU_STACK' | grep -o ' RW '
grep -q __stack_chk_fail symbols && echo "stack protector"
grep -q '__[a-z]*printf_chk' symbols && echo "fortify"
