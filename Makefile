# On a fresh Debian 12 or 13. Each installs what is missing first; all but `install` build the
# quick profile (docs/internals/profiles.md).
#   make demo       build, show a first answer, run the same small study in the lab, compare
#   make check      check the format and the lints, run the unit and property tests: minutes, without root
#   make test       check the format and the lints, run all tests that must pass before anything lands
#   make test-all   the same with the long tests: calibration, whole studies
#   make shipped-run  run that study, keep its figures in runs/
#   make mutants    change the code in hundreds of places, count what its tests find: hours
#   make published  run the five published studies in the lab, rewrite docs/generated/published
#   make book       build the documents as a book in target/book
#   make dist       build static programs for x86-64 and aarch64, tarballs and .debs in target/dist
#   make try-dist   install what `make dist` built on bare Debian 12 and 13, and run it (as root)
#   make install    build the optimised program, install it to PREFIX

.DEFAULT_GOAL := help
PREFIX ?= /usr/local
OUT ?= disklab-runs/demo
CARGO = ./scripts/cargo
BINARY = target/debug/disklab
OPTIMISED = target/release/disklab
.PHONY: help needs build optimised demo shipped-run check test test-all mutants published book dist try-dist install clean

help:
	@sed -n 's/^#   //p' Makefile

needs:
	@./scripts/needs run

build: needs
	$(CARGO) build --locked -p disklab

optimised: needs
	$(CARGO) build --release --locked -p disklab

demo:
	@./scripts/demo "$(OUT)"

# What `make demo` shows first; after a change of the study, the lab, or Debian's programs. On
# Debian 13 it is the run that is only compared with.
SHIPPED = first-look$(shell . /etc/os-release && [ "$$VERSION_ID" != 13 ] || echo -debian-13)
shipped-run: build
	@rm -rf disklab-runs/shipped-run
	$(BINARY) run first-look --seed 1 --out disklab-runs/shipped-run || [ $$? = 1 ]
	$(BINARY) shipped --record disklab-runs/shipped-run --out runs/$(SHIPPED).jsonl
	UPDATE=1 $(CARGO) test --quiet --locked -p disklab --bins readme

check:
	@./scripts/needs check
	@./scripts/test check

test:
	@./scripts/needs test
	@./scripts/test land

test-all:
	@./scripts/needs test
	@./scripts/test all

mutants:
	@./scripts/needs test
	@./scripts/mutants

published: build
	./scripts/published

book:
	@./scripts/needs book
	@./scripts/book

dist:
	@./scripts/needs dist
	@./scripts/dist

try-dist: dist
	@./scripts/try-dist --both

# Only copying needs the rights of root: as root, cargo would compile all of it again.
INSTALLED = $(DESTDIR)$(PREFIX)
SUDO = $(shell here='$(INSTALLED)'; while [ ! -e "$$here" ]; do here=$$(dirname "$$here"); done; \
  [ -w "$$here" ] || echo sudo)
install: optimised
	@for shell in bash zsh fish; do \
	  $(OPTIMISED) completions $$shell > target/completions.$$shell || exit; \
	done
	$(SUDO) install -D -m 755 $(OPTIMISED) "$(INSTALLED)/bin/disklab"
	$(SUDO) install -m 755 $(OPTIMISED)-guest "$(INSTALLED)/bin/disklab-guest"
	$(SUDO) install -d "$(INSTALLED)/share/man/man1"
	$(SUDO) $(OPTIMISED) man "$(INSTALLED)/share/man/man1"
	$(SUDO) install -D -m 644 target/completions.bash "$(INSTALLED)/share/bash-completion/completions/disklab"
	$(SUDO) install -D -m 644 target/completions.zsh "$(INSTALLED)/share/zsh/site-functions/_disklab"
	$(SUDO) install -D -m 644 target/completions.fish "$(INSTALLED)/share/fish/vendor_completions.d/disklab.fish"

clean:
	rm -rf target
