# Two commands on a fresh machine with Python 3.11 or later: `make demo` and `make test`.
PYTHON ?= python3
# Installed first and pinned: a plain `torch` can pull gigabytes of CUDA packages.
TORCH ?= torch==2.13.0
VENV ?= .venv
BIN := $(VENV)/bin
# One thread per test process: two processes of two spinning threads each slow one another many times over.
TEST_JOBS ?= 2

.PHONY: demo test test-fast test-pythons check docs rooms release-check format audit reliability clean

demo: $(VENV)/.ready-demo
	$(BIN)/seqloom demo

test: $(VENV)/.ready-dev $(VENV)/.ready-node $(VENV)/.ready-browser
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(TEST_JOBS)

# The tests of what differs from BASE: changed tests, and those that mirror changed modules.
BASE ?= main
test-fast: $(VENV)/.ready-dev
	OMP_NUM_THREADS=1 $(BIN)/python tools/changed.py $(BASE)

# The tests that need no torch, on other versions of Python, each in an environment of its own.
PYTHONS ?= 3.12 3.13
test-pythons:
	$(PYTHON) tools/pythons.py $(VENV) $(PYTHONS)

docs: $(VENV)/.ready-dev
	$(BIN)/python tools/site.py

# The drawing of the tour, from the imports; and how deep and how full the rooms are.
rooms: $(VENV)/.ready-dev
	$(BIN)/python tools/rooms.py --svg docs/images/rooms.svg

# Wheel and sdist, checked and installed into a fresh environment without torch.
release-check: $(VENV)/.ready-dev
	$(BIN)/python tools/release.py

check: $(VENV)/.ready-dev docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy benchmarks
	$(BIN)/mypy studies
	$(BIN)/mypy tools docs/site_hooks.py
	$(BIN)/lint-imports

format: $(VENV)/.ready-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Known faults: of what is installed (where pip-audit can ask) and of the lower bounds.
audit: $(VENV)/.ready-dev
	$(BIN)/python benchmarks/audit.py

# Every attack of docs/reliability.md, which is written anew. Pages are opened in Chromium: install it, or name one in
# SEQLOOM_BROWSER. ATTACKS="kills pages" runs some, and leaves the page alone.
reliability: $(VENV)/.ready-dev
	mkdir -p build
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/reliability.py $(ATTACKS) --json > build/reliability.jsonl
	$(if $(ATTACKS),,$(BIN)/python benchmarks/reliability.py --page docs/reliability.md --of build/reliability.jsonl)

$(VENV)/.ready-base:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "seqloom needs Python 3.11 or later; set PYTHON=python3.11 or the like")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	touch $@

$(VENV)/.ready-demo: $(VENV)/.ready-base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[train,plot,dates,serve]'
	touch $@

$(VENV)/.ready-dev: $(VENV)/.ready-base pyproject.toml
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.ready-demo

# What the tests of programs in JavaScript run; without npm they say that they were left out.
$(VENV)/.ready-node: $(VENV)/.ready-base
	! command -v npm > /dev/null || npm install --prefix $(VENV)/node --silent --no-audit --no-fund --ignore-scripts onnxruntime-web@1.30.0
	touch $@

# What the tests open pages with, installed where that is possible; elsewhere they say that they were left out.
$(VENV)/.ready-browser: $(VENV)/.ready-base
	command -v chromium > /dev/null || command -v google-chrome > /dev/null || \
		! { test "$$(id -u)" = 0 && command -v apt-get > /dev/null; } || \
		{ apt-get update -qq && apt-get install -qq --yes --no-install-recommends chromium > /dev/null; }
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-python* build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
