SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BUILT := $(VENV)/.built
RELEASE := .release
MODULES := $(VENV)/.modules
PIP := $(BIN)/python -m pip --disable-pip-version-check

# where tests find the conformance cases and the data; they skip with a reason where these are not set
ifdef BERTH_CONFORMANCE
export BERTH_CONFORMANCE
endif
ifdef BERTH_DATA
export BERTH_DATA
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help FORCE setup compiler java chromium demo test test-long fuzz lint format bench wheel sbom audit lock clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

setup: $(BUILT) java  ## make .venv with the berth command in it

# $(call install_python,PROBLEM): root on Debian installs it, anybody else is told what to type
define install_python
if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	echo "$(1): installing python3 and python3-venv"; \
	apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y python3 python3-venv || exit 1; \
else \
	echo "$(1). Type this, then make again: sudo apt-get update && sudo apt-get install -y python3 python3-venv" >&2; \
	exit 1; \
fi
endef

# pip installs what the lock names and nothing else: pyspark, which has no wheel, is built by the locked setuptools
$(READY): pyproject.toml requirements.lock
	@command -v $(PYTHON) >/dev/null || { $(call install_python,$(PYTHON) is not there); }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "berth needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Try: make PYTHON=python3.12" >&2; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { $(call install_python,$(PYTHON) can't make virtual environments); }
	$(PYTHON) -m venv --clear $(VENV)
	@sed -n '/^setuptools==/,/# via/p' requirements.lock > $(VENV)/setuptools.lock
	$(PIP) install --quiet --require-hashes -r $(VENV)/setuptools.lock
	$(PIP) install --quiet --no-build-isolation --use-pep517 --require-hashes -r requirements.lock
	@touch $@

# the names of all modules: the installation knows them, and has to hear of those that come and go
$(MODULES): $(READY) FORCE
	@find src -name '*.py' | sort > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@

FORCE:

# berth itself: its compiled core is built again when one of the core's files has changed
$(BUILT): $(READY) $(MODULES) CMakeLists.txt $(wildcard src/berth/core/*.hpp src/berth/core/*/*) | compiler
	PATH="$(CURDIR)/$(BIN):$$PATH" $(PIP) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# a C++ compiler and Python's headers for the core: root on Debian installs them, anybody else is told what to type
compiler:
	@headers=$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))'); \
	if command -v g++ >/dev/null && [ -e "$$headers/Python.h" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "there is no C++ compiler, or no headers of Python: installing g++ and python3-dev"; \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y g++ python3-dev || exit 1; \
	else \
		echo "berth needs a C++ compiler and the headers of Python. Type this, then make again:" \
			"sudo apt-get update && sudo apt-get install -y g++ python3-dev" >&2; \
		exit 1; \
	fi

# Java for Spark: root on Debian installs it, anybody else is told what to type
java:
	@java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	if "$$java" -version 2>&1 | grep -Eq 'version "(1[7-9]|[2-9][0-9])'; then exit 0; fi; \
	if [ -n "$$JAVA_HOME" ]; then \
		echo "Spark needs Java 17 or newer; JAVA_HOME=$$JAVA_HOME has none. Unset it, or set it to another one" >&2; \
		exit 1; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "there is no Java 17 or newer: installing it for Spark"; \
		apt-get update || exit 1; \
		package=openjdk-17-jre-headless; \
		apt-get install --simulate $$package >/dev/null 2>&1 || package=default-jre-headless; \
		DEBIAN_FRONTEND=noninteractive apt-get install -y $$package || exit 1; \
	else \
		echo "Spark needs Java 17 or newer. Type this, then make again:" \
			"sudo apt-get update && sudo apt-get install -y default-jre-headless" >&2; \
		exit 1; \
	fi

# Chromium for the tests of the page: root on Debian installs it; without it these tests skip and say why
chromium:
	@if command -v chromium >/dev/null || command -v google-chrome >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "there is no Chromium: installing it for the tests of the page"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium; } >/dev/null || \
			echo "Chromium can't be installed here: the tests of the page will be skipped"; \
	else \
		echo "there is no Chromium: the tests of the page will be skipped. To have them, type:" \
			"sudo apt-get update && sudo apt-get install -y chromium"; \
	fi

demo: setup  ## a small problem solved and shown
	@$(BIN)/python examples/demo.py

# $(call pytest_marked,MARKER EXPRESSION): nothing to run is fine
define pytest_marked
$(BIN)/python -m pytest --collect-only -q -m "$(1)" >/dev/null 2>&1; \
if [ $$? -ne 5 ]; then echo "$(BIN)/python -m pytest -m \"$(1)\""; $(BIN)/python -m pytest -m "$(1)"; fi
endef

test: setup  ## all tests: the fast ones, those that need Spark, those that need a browser
	$(BIN)/python -m pytest -n auto -m "not spark and not browser and not long"
	@$(call pytest_marked,spark and not long)
	@$(MAKE) --no-print-directory chromium
	@$(call pytest_marked,browser and not spark and not long)

test-long: setup  ## the tests that take minutes each: commands and applications that are moved about and killed
	$(BIN)/python -m pytest -m long

fuzz: setup  ## odd files and requests for ten minutes; files that break something are kept in tests/fuzz/corpus
	$(BIN)/python -m tests.fuzz --seconds 480
	BERTH_OPENAPI_EXAMPLES=15 $(BIN)/python -m pytest -q tests/web/test_openapi.py

lint: $(BUILT)  ## style, format, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(READY)  ## put every file into the common format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup  ## run every benchmark
	@shopt -s nullglob; benchmarks=(benchmarks/bench_*.py); \
	if [ $${#benchmarks[@]} -eq 0 ]; then echo "no benchmarks/bench_*.py yet"; fi; \
	for benchmark in "$${benchmarks[@]}"; do \
		echo "== $$benchmark"; PYTHONPATH=. $(BIN)/python "$$benchmark" || exit 1; \
	done

# the tools of a release, in an environment of their own, so that they can't change what is tested
$(RELEASE)/.ready: release/requirements.lock
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip --disable-pip-version-check install --quiet --require-hashes -r $<
	@touch $@

wheel: $(BUILT)  ## build the wheel twice, in different folders, and compare: dist has it if they are the same
	$(BIN)/python release/wheel.py

sbom: $(BUILT) $(RELEASE)/.ready  ## list all that berth installs as CycloneDX in dist
	$(BIN)/python release/sbom.py

audit: $(RELEASE)/.ready  ## look up every locked dependency in the database of known vulnerabilities
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock
	$(RELEASE)/bin/pip-audit --strict --disable-pip --require-hashes -r release/requirements.lock

lock: $(RELEASE)/.ready  ## pin every dependency anew in both lock files
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(RELEASE)/bin/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --generate-hashes --group dev --output-file requirements.lock pyproject.toml
	UV_CUSTOM_COMPILE_COMMAND="make lock" $(RELEASE)/bin/uv pip compile --quiet --upgrade --universal \
		--python-version 3.11 --generate-hashes --group release --output-file release/requirements.lock

clean:  ## remove .venv and everything else that can be made again
	rm -rf $(VENV) $(RELEASE) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +
