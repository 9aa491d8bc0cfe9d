# make demo · make test · make bench; everything below sets itself up in .venv, and works offline the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
STAMP := $(VENV)/.ready

# llama.cpp is compiled once, without the parts that are not used; the wheel is kept, for other checkouts too if you like.
WHEELS ?= .cache/wheels
LLAMA := llama-cpp-python==0.3.36
LLAMA_CMAKE ?=
LLAMA_BUILT := $(WHEELS)/.llama-0.3.36$(subst $() ,,$(LLAMA_CMAKE))

.PHONY: demo test bench lint types schemas check wheel clean setup llama soak
.DEFAULT_GOAL := help

help:
	@echo "make demo    set up what it needs and run the main job"
	@echo "make test    set up what it needs and run the whole suite"
	@echo "make bench   print the table of figures (ratios, one run)"
	@echo "make check   what CI runs besides the tests: lint, types, schemas, wheel"

setup: $(STAMP)

$(STAMP): pyproject.toml $(if $(findstring llm,$(EXTRAS)),$(LLAMA_BUILT))
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3,11) <= sys.version_info[:2] <= (3,13) else "bt_runtime needs CPython 3.11 to 3.13, this is " + sys.version.split()[0] + "; name another: make PYTHON=python3.12")'
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(if $(wildcard $(WHEELS)),--find-links $(WHEELS)) -e '.[$(EXTRAS)]'
	@touch $@

llama: $(LLAMA_BUILT)

$(LLAMA_BUILT):
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	@mkdir -p $(WHEELS)
	@test -n "$(LLAMA_CMAKE)" || ! ls $(WHEELS)/llama_cpp_python-0.3.36-*.whl >/dev/null 2>&1 || touch $@
	@test -f $@ || echo "compiling llama.cpp: 2 to 5 minutes, this once"
	@test -f $@ || CMAKE_ARGS="-DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/.ci/llama.cmake $(LLAMA_CMAKE)" \
		$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-cache-dir $(LLAMA) -w $(WHEELS)
	@touch $@

soak: setup
	BTR_SOAK=1 $(BIN)/python -m pytest tests/llm/test_worker.py -k soak

demo: setup
	$(BIN)/btr doctor

test: setup
	$(BIN)/python -m pytest

bench: setup
	$(BIN)/python tests/benchmarks $(ONLY)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

check: lint types

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache
