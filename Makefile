# Two commands for a new user: `make train` and `make test`. Both set up .venv in this folder first.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# pytest workers; two cores are the smallest machine we promise to work on.
JOBS   ?= 2

.DEFAULT_GOAL := help
.PHONY: help train test lint types docs ci bench clean

help:
	@echo "make train   set up and train a shielded agent in the conveyor world (a quarter of an hour)"
	@echo "make test    set up and run the tests"
	@echo "make ci      lint, types and tests; CI runs the same, with a browser and, after it, Ray"
	@echo "make docs    run the examples of the documentation and build it as a site, in site/"
	@echo "make bench   the benchmarks (speed is measured here, never in the tests)"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "ambs needs Python 3.11 or newer, and '$(PYTHON)' is older; name another one: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "could not make a virtual environment; on Debian and Ubuntu install the package python3-venv"; exit 1; }

# One stamp a set of extras, made again when the dependencies change. With pip's own progress bars:
# the first install is large and a person is waiting.
$(VENV)/.installed: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

train: $(VENV)/.installed
	$(BIN)/ambs train

test: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

docs: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q tests/test_docs.py
	$(BIN)/mkdocs build

ci: lint types test

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist site .pytest_cache .ruff_cache .mypy_cache .hypothesis
