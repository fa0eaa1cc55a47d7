# On a fresh Debian 12 or 13. Each installs what is missing first; all but `install` build the
# quick profile (docs/profiles.md).
#   make demo       build, run a small study in the lab, print where the report is
#   make check      check the format and the lints, run the unit and property tests: minutes, without root
#   make test       check the format and the lints, run all tests that must pass before anything lands
#   make test-all   the same with the long tests: calibration, whole studies
#   make published  run the five published studies in the lab, write docs/published.md
#   make install    build the optimised program, install it to PREFIX

.DEFAULT_GOAL := help
PREFIX ?= /usr/local
OUT ?= disklab-runs/demo
CARGO = ./scripts/cargo
BINARY = target/debug/disklab
OPTIMISED = target/release/disklab
.PHONY: help needs build optimised demo check test test-all published install clean

help:
	@sed -n 's/^#   //p' Makefile

needs:
	@./scripts/needs run

build: needs
	$(CARGO) build --locked -p disklab

optimised: needs
	$(CARGO) build --release --locked -p disklab

demo: build
	@rm -rf "$(OUT)"
	$(BINARY) run first-look --out "$(OUT)" || [ $$? = 1 ]
	@[ -f "$(OUT)/report.html" ] && echo "Open it: file://$(abspath $(OUT))/report.html"

check:
	@./scripts/needs check
	@./scripts/test check

test:
	@./scripts/needs test
	@./scripts/test land

test-all:
	@./scripts/needs test
	@./scripts/test all

published: build
	./scripts/published

install: optimised
	install -D -m 755 $(OPTIMISED) "$(DESTDIR)$(PREFIX)/bin/disklab"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	$(OPTIMISED) man "$(DESTDIR)$(PREFIX)/share/man/man1"
	$(OPTIMISED) completions bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/disklab"
	$(OPTIMISED) completions zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_disklab"
	$(OPTIMISED) completions fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/disklab.fish"

clean:
	rm -rf target
