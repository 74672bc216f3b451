# Everything is set up by itself in .venv; needed: Python 3.11 or newer, make, PyPI.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# One BLAS thread a process: the tests run in parallel processes themselves.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1

.PHONY: demo test test-slow test-all fuzz bench lint docs clean

demo: $(VENV)/demo.done
	$(BIN)/python examples/demo.py

test: $(VENV)/test.done
	$(BIN)/python -m pytest -n $(JOBS) -rs -m "not slow"

test-slow: $(VENV)/test.done
	$(BIN)/python -m pytest -n $(JOBS) -rs -m slow

test-all: test test-slow

# Mutated files of every kind, equations and misprints for the checker, and new random examples: what
# is found becomes a test of its own.
SEED ?= 1
fuzz: $(VENV)/test.done
	$(BIN)/python -m tests.fuzz.run --cases 10000 --seed $(SEED) --workers $(JOBS)
	LINKWRIGHT_FUZZ=1 $(BIN)/python -m pytest -n $(JOBS) tests/laws tests/agreement
	LINKWRIGHT_SEED=$(SEED) $(BIN)/python -m tests.check.soundness --jobs $(JOBS)

bench: $(VENV)/bench.done
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/calls.py
	$(BIN)/python benchmarks/forms.py
	$(BIN)/python benchmarks/rollouts.py

lint: $(VENV)/lint.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/docs.done
	$(BIN)/python docs/make.py

$(VENV)/%.done: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache .hypothesis
