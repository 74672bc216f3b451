# Every target sets up .venv itself. Needed: Python 3.11 or newer, make, and a package index.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# One BLAS thread a process: the tests run in parallel processes themselves.
export OMP_NUM_THREADS = 1
export OPENBLAS_NUM_THREADS = 1
# Bytecode is kept: tests start many processes, and each would compile the package for itself.
unexport PYTHONDONTWRITEBYTECODE

QUICK := $(addprefix tests/,\
	agreement/test_coordinates.py agreement/test_loads.py check/test_page.py \
	check/test_reading.py comparison/test_scaling.py constrained/test_closing_steps.py \
	constrained/test_compiled_functions.py constrained/test_file_order.py control/test_recipes.py \
	files/test_dh.py files/test_toml.py files/test_urdf.py forms/test_golden.py \
	identify/test_named_regressors.py linkages/test_loop_classes.py motion/test_trajectories.py papers/test_published_numbers.py \
	report/test_demo.py report/test_fonts.py show/test_collisions.py show/test_diagrams.py \
	simulate/test_inputs.py simulate/test_mistakes.py \
	verify/test_balls.py verify/test_elimination.py \
	verify/test_inertias.py $(addprefix unit/test_,algebra.py cli.py cli_options.py displays.py \
	dual.py expressions.py joint_kinds.py mechanism.py messages.py model.py named_inputs.py \
	number_checks.py operators.py passes.py rotations.py structure.py tape.py transfer.py))

.PHONY: demo quick test test-slow test-all fuzz mutants golden bench lint docs clean

demo: $(VENV)/demo.done
	$(BIN)/python examples/demo.py

# Some tests of every package: about a minute of processor time, shared by the processes.
quick: $(VENV)/test.done
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow" $(QUICK)

# A file stays in one process: what its tests share is made once.
test: $(VENV)/test.done
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -rs -m "not slow"

test-slow: $(VENV)/test.done
	$(BIN)/python -m pytest -n $(JOBS) -rs -m slow

# The pages of docs/ run when the site is built.
test-all: test test-slow docs

# Mutated files of every kind, equations and misprints for the checker, and new random examples: what
# is found becomes a test of its own.
SEED ?= 1
fuzz: $(VENV)/test.done
	$(BIN)/python -m tests.fuzz.run --cases 10000 --seed $(SEED) --workers $(JOBS)
	LINKWRIGHT_FUZZ=1 $(BIN)/python -m pytest -n $(JOBS) tests/laws tests/agreement
	LINKWRIGHT_SEED=$(SEED) $(BIN)/python -m tests.check.soundness --jobs $(JOBS)

# Small mistakes in the source, drawn by SEED: which of them do the tests notice? Not part of CI.
COUNT ?= 300
mutants: $(VENV)/test.done
	$(BIN)/python tools/mutants.py --count $(COUNT) --seed $(SEED) --jobs $(JOBS)

# What the papers' pages print, written again: read the difference before you commit it.
golden: $(VENV)/test.done
	$(BIN)/python tools/write_paper_pages.py

bench: $(VENV)/bench.done
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/calls.py
	$(BIN)/python benchmarks/exported_code.py
	$(BIN)/python benchmarks/forms.py
	$(BIN)/python benchmarks/rollouts.py
	$(BIN)/python benchmarks/simulation.py
	$(BIN)/python benchmarks/large_loops.py
	$(BIN)/python -m benchmarks.files
	$(BIN)/python benchmarks/large_models.py
	$(BIN)/python benchmarks/webassembly.py

lint: $(VENV)/lint.done
	$(BIN)/python tools/check_language.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The web site in out/docs: every Python block of the pages runs, warnings and broken links are errors.
docs: $(VENV)/docs.done
	$(BIN)/python -m sphinx -W --keep-going -q -j $(JOBS) -b html docs out/docs
	@echo "open out/docs/index.html"

$(VENV)/%.done: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	touch $@

clean:
	rm -rf $(VENV) out docs/generated .pytest_cache .mypy_cache .ruff_cache .hypothesis
