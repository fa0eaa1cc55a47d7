# Two commands do everything on a fresh Debian 12 or 13, and a third what takes longer:
#   make demo   install what is missing, build, run a small study in the lab, say where the report is
#   make test   install what is missing, check the format and the lints, run all tests
#   make published  run the five published studies in the lab, write docs/published.md

.DEFAULT_GOAL := help
PREFIX ?= /usr/local
OUT ?= disklab-runs/demo
CARGO = ./scripts/cargo
BINARY = target/release/disklab
.PHONY: help needs build demo test published install clean

help:
	@sed -n 's/^#   //p' Makefile

needs:
	@./scripts/needs run

build: needs
	$(CARGO) build --release --locked -p disklab

demo: build
	@rm -rf "$(OUT)"
	$(BINARY) run first-look --out "$(OUT)" || [ $$? = 1 ]
	@[ -f "$(OUT)/report.html" ] && echo "Open it: file://$(abspath $(OUT))/report.html"

test:
	@./scripts/needs test
	@./scripts/test

published: build
	./scripts/published

install: build
	install -D -m 755 $(BINARY) "$(DESTDIR)$(PREFIX)/bin/disklab"
	install -d "$(DESTDIR)$(PREFIX)/share/man/man1" \
	  "$(DESTDIR)$(PREFIX)/share/bash-completion/completions" \
	  "$(DESTDIR)$(PREFIX)/share/zsh/site-functions" \
	  "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d"
	$(BINARY) man "$(DESTDIR)$(PREFIX)/share/man/man1"
	$(BINARY) completions bash > "$(DESTDIR)$(PREFIX)/share/bash-completion/completions/disklab"
	$(BINARY) completions zsh > "$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_disklab"
	$(BINARY) completions fish > "$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/disklab.fish"

clean:
	rm -rf target
