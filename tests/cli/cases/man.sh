# docs/sonde.1 is what the tool prints; to renew it: sonde --man >docs/sonde.1
"$SONDE" --man | diff "$TOP/docs/sonde.1" -
