PYTHON = .venv/bin/python
INSTALL = $(PYTHON) -m pip install -qq --disable-pip-version-check -c constraints.txt
# The requirements of a dependency group, one a line (older pips do not know groups).
GROUP = $(PYTHON) -c 'import sys, tomllib; \
	groups = tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]; \
	print("\n".join(groups[sys.argv[1]]))'

# The command line runs in processes of its own, which count too.
COVERAGE = COVERAGE_PROCESS_START="$(CURDIR)/pyproject.toml" COVERAGE_FILE="$(CURDIR)/.coverage"

.DEFAULT_GOAL := help
.PHONY: help test bench simulate torture format docs clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

test: .venv/.dev ## every check: format, lint, types, imports, tests
	bash scripts/install-servers
	.venv/bin/ruff format --check
	.venv/bin/ruff check
	.venv/bin/mypy
	.venv/bin/lint-imports
	$(COVERAGE) $(PYTHON) -m pytest -n 2 --dist worksteal --cov=ronda \
		--cov-report=term:skip-covered --cov-fail-under=95

bench: .venv/.bench ## measure against rivals; a table, and bench/results.json
	bash scripts/install-servers
	$(PYTHON) -m bench

simulate: .venv/.dev ## thousands of random webs under a virtual clock, by their seeds
	$(PYTHON) -m ronda simulate --check 3000 --seed $$(date +%s)

torture: .venv/.dev ## kill -9 a thousand times, days of a million targets; takes hours
	bash scripts/install-servers
	$(PYTHON) scripts/torture.py

format: .venv/.dev ## format the code, and mend what the linter can
	.venv/bin/ruff format
	.venv/bin/ruff check --fix

docs: .venv/.dev ## write docs/reference/ from the code
	$(PYTHON) scripts/make_reference.py

clean: ## remove everything that was made, .venv too
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -rf dist build .coverage .coverage.*
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml constraints.txt
	@sh scripts/setup

.venv/.dev: .venv/.installed
	@echo "installing the development tools" >&2
	@$(GROUP) dev | $(INSTALL) -r /dev/stdin
	@touch $@

.venv/.bench: .venv/.installed
	@echo "installing the rivals" >&2
	@$(GROUP) bench | $(INSTALL) -r /dev/stdin
	@touch $@
