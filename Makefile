# Threadline: everything a contributor types. `make` alone lists the targets.

PYTHON ?= python3
KILLS  ?= 300
ARGS   ?=

UV    := uv==0.13.7
VENV  := .venv
BIN   := $(VENV)/bin
STAMP := $(VENV)/.stamp
NODE  := ui/node_modules/.stamp
BUILT := src/threadline/web/built/index.html
PIP   := $(BIN)/python -m pip -qq --disable-pip-version-check

# Compiled once, not by each of the programs that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: run chat test freeze check check-python check-ui docs client bench crash setup lock clean help

run: $(STAMP) $(BUILT)  ## start everything, and print a link to it (ARGS=--demo for made-up people)
	@$(BIN)/threadline serve $(ARGS)

chat: $(STAMP)  ## talk to the echo agent in this terminal
	@$(BIN)/threadline chat $(ARGS)

test: $(STAMP) $(BUILT)  ## run all tests (ARGS="-k route" for some)
	@$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

check: check-python check-ui $(STAMP)  ## style, types, import contracts, documents; the web app's own tests
	@$(BIN)/python -m pytest --quiet --no-header tests/architecture/test_documents.py tests/docs/test_reference.py

check-python: $(STAMP)
	@$(BIN)/ruff format --check --quiet . || { echo "Not formatted: $(BIN)/ruff format ."; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache --no-logo

check-ui: $(NODE)
	@cd ui && npm run --silent check && npm test --silent

docs: $(STAMP)  ## write the reference anew from the code
	@$(BIN)/python -m docs.generate

client: docs $(NODE)  ## write the TypeScript client anew from the API, and check its types
	@cd ui && npm run --silent check

bench: $(STAMP)  ## measure, and write JSON, tables and plots
	@$(BIN)/python -m bench $(ARGS)

freeze: $(STAMP)  ## accept changes to the HTTP API, command line, schema, export format and errors
	@FREEZE=1 $(BIN)/python -m pytest --quiet --no-header tests/architecture/test_public_surface.py

crash: $(STAMP)  ## kill -9 under load, KILLS=300 times: nothing lost, nothing twice
	@$(BIN)/python -m tests.crash --kills $(KILLS) $(ARGS)

setup: $(STAMP) $(BUILT)  ## install and build everything (the targets above do it by themselves)

$(STAMP): requirements/pip.txt requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Threadline needs Python 3.11 or newer: make PYTHON=python3.11 …"; exit 1; }
	@echo "Setting up $(VENV); this takes about a minute, once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) install --require-hashes -r requirements/pip.txt
	@$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-build-isolation --no-deps --editable .
	@touch $@

$(NODE): ui/package.json ui/package-lock.json
	@mkdir -p ui/node_modules
	@if command -v npm >/dev/null; then cd ui && npm ci --silent --prefer-offline; \
		else echo "There is no npm here: the web app cannot be built."; fi
	@touch $@

$(BUILT): $(NODE) $(shell find ui/src ui/public ui/*.html ui/*.ts -type f)
	@echo "Building the web app."
	@cd ui && npm run --silent build -- --logLevel warn
	@touch $@

LOCK := .venv-lock/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-annotate --upgrade --custom-compile-command "make lock"

lock:  ## choose the newest dependencies anew, with hashes and without addresses
	@$(PYTHON) -m venv .venv-lock
	@.venv-lock/bin/python -m pip -qq --disable-pip-version-check install $(UV)
	@$(LOCK) --output-file requirements/pip.txt requirements/pip.in
	@$(LOCK) --output-file requirements/dev.txt --all-extras --override requirements/override.in \
		pyproject.toml requirements/dev.in

clean:  ## remove everything that make and the tools have made
	@rm -rf $(VENV) .venv-lock ui/node_modules src/threadline/web/built build dist .coverage* .hypothesis
	@rm -rf .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find bench src tests -name __pycache__ -type d -prune -exec rm -rf {} +

help:
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14
