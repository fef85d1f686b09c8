# Packaging: included by the Makefile at the top.  None of it is part of make
# check; make check-packages tries it all where the tools for it are.

DIST := $(B)/sonde-$(VERSION).tar.gz
.PHONY: dist deb static check-packages $(DIST)

# What is committed, the same bytes for the same commit; it knows its commit by
# the file COMMIT.
dist: $(DIST)
$(DIST):
	@mkdir -p $(@D)
	git archive --prefix=sonde-$(VERSION)/ HEAD | gzip -n9 > $@
	@echo $@

# sonde, libsonde0 and libsonde-dev, built of that archive as Debian builds.
deb: $(DIST)
	sh packaging/deb.sh $(DIST) $(B)/deb

# One file for machines whose libraries are others: all that needs no driver.  A
# static program may find that it cannot open the one that is there.
static: $(B)/static/sonde
$(B)/static/sonde: $(CLI_OBJ) $(B)/libsonde.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ $(LDLIBS)

check-packages: $(DIST) $(B)/sonde
	sh packaging/check.sh $(DIST) $(B)/packages
