# make demo · make test · make bench; everything below sets itself up in .venv, and works offline the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
STAMP := $(VENV)/.ready

.PHONY: demo test bench fuzz kills lint types schemas check wheel clean setup
.DEFAULT_GOAL := help

help:
	@echo "make demo    set up what it needs and run the main job"
	@echo "make test    set up what it needs and run the whole suite"
	@echo "make bench   print the table of figures (ratios, one run)"
	@echo "make check   what CI runs besides the tests: lint, types, schemas, wheel"

setup: $(STAMP)

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3,11) <= sys.version_info[:2] <= (3,13) else "bt_runtime needs CPython 3.11 to 3.13, this is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12")'
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[$(EXTRAS)]'
	@touch $@

demo: setup
	$(BIN)/btr doctor

test: setup
	$(BIN)/python -m pytest

bench: setup
	$(BIN)/python tests/benchmarks $(ONLY)

# optional, not part of make test: pip install atheris first
fuzz: setup
	$(BIN)/python tests/fuzz/guided.py --seconds $(or $(SECONDS),60)

# 40 runs killed at random moments and resumed (make test tries 10 of them)
kills: setup
	BTR_KILLS=40 $(BIN)/python -m pytest tests/journal/test_kill.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

check: lint types

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache
