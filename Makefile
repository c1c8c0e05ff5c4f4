# Each target sets up everything it needs. Python 3.11+, a C compiler and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
ON_ALL_CORES = -n auto --maxprocesses 8
SOURCES = setup.py pyproject.toml $(wildcard csrc/*)

.PHONY: demo test test-all sanitizers bench figures lint dist clean

demo: $(VENV)/built $(VENV)/cli $(VENV)/plot
	@$(BIN)/linred demo --force

test: demo $(VENV)/test
	$(BIN)/python -m pytest -q $(ON_ALL_CORES)

test-all: demo $(VENV)/test sanitizers
	$(BIN)/python -m pytest -q $(ON_ALL_CORES) -m "long or not long" --hypothesis-profile=long

# Tests the kernels under AddressSanitizer and UBSan, in a separate build.
sanitizers: $(VENV)/test
	PIP_NO_INPUT=1 sh tests/sanitizers.sh $(BIN)/python

bench: $(VENV)/built $(VENV)/bench $(VENV)/cli
	$(BIN)/python -m benchmarks

figures: $(VENV)/built $(VENV)/plot
	PYTHONPATH=. $(BIN)/python docs/make_figures.py
	PYTHONPATH=. $(BIN)/python docs/make_table.py

lint: $(VENV)/built $(VENV)/lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint csrc
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/stubtest linred --concise --ignore-disjoint-bases --mypy-config-file pyproject.toml --allowlist tests/stubtest_allowlist.txt

# Builds sdist and wheel in isolation, installs each into an empty venv and tries it there.
dist: $(VENV)/built
	sh tests/dist.sh $(BIN)/python

$(BIN)/python:
	@echo "make: creating the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/built: $(BIN)/python $(SOURCES)
	@echo "make: installing the packages that linred needs and compiling its kernels, usually one to two minutes"
	@$(PIP) --editable .
	@touch $@

# Installs only the packages of an extra: installing ".[extra]" would compile everything again.
$(VENV)/test $(VENV)/lint $(VENV)/bench $(VENV)/plot $(VENV)/cli: $(VENV)/%: $(VENV)/built
	@echo "make: installing the packages for '$*', usually less than a minute"
	@$(BIN)/python -c "from importlib.metadata import requires; \
	print(*(r.split(';')[0] for r in requires('linred') if '$*' in r.partition('extra ==')[2]), sep='\n')" > $@.txt
	@$(PIP) --requirement $@.txt
	@touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info linred/_kernels/*.so
