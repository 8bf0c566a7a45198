# `make lab` and `make test` need python3 (3.11 or newer, with venv) and make; everything else goes into .venv.
# `make help` lists the targets.

SHELL := /bin/sh
.DEFAULT_GOAL := help

VENV ?= .venv
# The Python that makes the environment: `make lab PYTHON=python3.12`. Everything else runs the one in .venv.
PYTHON ?= python3
# The notebook that opens first, and the port. Where the port is in use, the next free one is taken.
NOTEBOOK ?= 0-first-kernel.ipynb
PORT ?= 8888
LAB_OPTIONS ?=
EXPLORE_OPTIONS ?=
# "owner/name" on GitHub: the site's exercises then lead to Binder, too.
REPOSITORY ?=
# auto: browser tests are skipped, with a reason, where there is no Chromium. required: they fail there.
# firefox: `make test-site` drives Firefox, and its tests are skipped, with a reason, where there is none.
BROWSER ?= auto
# no: without the mark `further`: of many cases only a sample, and no test that takes long. `.ci/run` takes it.
FURTHER ?= yes
# What runs both ways.
EMULATOR_TESTS := tests/emulator tests/instruments tests/faults tests/kernels tests/test_kernel.py
# Further options for pytest, e.g. PYTEST="-k banks -x".
PYTEST ?=

# Each test process and each kernel would compile softlab's modules again.
unexport PYTHONDONTWRITEBYTECODE

IN_VENV := $(VENV)/bin/python
# Where tests/conftest.py keeps compiled kernels. The notebooks' tests take what is there.
COMPILED := $(CURDIR)/.pytest_cache/d/softlab
NOTEBOOKS := notebooks
# A stamp says that the packages are installed, so that a second make does not ask pip.
LAB_STAMP := $(VENV)/.softlab-lab
# What an installation copies into the environment.
SHARED := $(wildcard softlab/app/jupyter/*.json softlab/app/jupyter/voila/templates/softlab/* \
  softlab/app/jupyter/labextensions/softlab-cuda/* softlab/app/jupyter/labextensions/softlab-cuda/static/*)
TEST_STAMP := $(VENV)/.softlab-test
SITE_STAMP := $(VENV)/.softlab-site
# `.ci/run` gives --no-compile: of 10 000 modules the tests import a part, and Python keeps those compiled.
PIP_OPTIONS ?=
PIP := $(IN_VENV) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt $(PIP_OPTIONS)

# $(call stage,name,command): run it, print how long it took, keep its exit status.
define stage
@echo "== $(1)"; start=$$(date +%s); status=0; ($(2)) || status=$$?; \
 echo "== $(1): $$( [ $$status = 0 ] && echo passed || echo FAILED ) in $$(($$(date +%s) - start)) s"; exit $$status
endef

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-16s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: lab
lab: $(LAB_STAMP) ## JupyterLab on your copies of the lessons (127.0.0.1, with a token)
	$(IN_VENV) -m softlab lab --notebook $(NOTEBOOK) -- --ServerApp.port=$(PORT) $(LAB_OPTIONS)

.PHONY: explore
explore: $(LAB_STAMP) ## the explorers without code, as a page in the browser (127.0.0.1, with a token)
	$(IN_VENV) -m softlab explore -- $(EXPLORE_OPTIONS)

# What lessons and explorers gave is kept in build/site-kept as long as softlab and the kernels are the same.
.PHONY: site
site: $(SITE_STAMP) ## the course as a static site in build/site: pages with explorers that need no Python
	$(IN_VENV) -m softlab.site build/site --keep build/site-kept $(if $(REPOSITORY),--repository $(REPOSITORY))

.PHONY: install
install: $(LAB_STAMP) ## only build .venv with everything `make lab` needs

.PHONY: test-tools
test-tools: $(TEST_STAMP) ## only build .venv with everything `make test` needs

.PHONY: doctor
doctor: $(LAB_STAMP) ## what this machine has, and what you lose without each missing part
	$(IN_VENV) -m softlab doctor

.PHONY: check
check: test-style test-types test-quick ## what to run before each commit: style, types, layers, quick tests

# Each stage is a target, so that `make -k test` runs all of them and reports every failure.
.PHONY: test
test: test-style test-types test-code test-notebooks test-browser ## everything that needs no GPU

.PHONY: test-style
test-style: $(TEST_STAMP) ## ruff: rules and format; import-linter: the layers
	$(call stage,style,$(IN_VENV) -m ruff check . && $(IN_VENV) -m ruff format --check . && $(VENV)/bin/lint-imports)

.PHONY: test-types
test-types: $(TEST_STAMP) ## mypy
	$(call stage,types,$(IN_VENV) -m mypy)

.PHONY: test-quick
test-quick: $(TEST_STAMP) ## pytest, without the slow tests
	$(call stage,quick tests,$(IN_VENV) -m pytest -q -n auto -m "not slow and not further and not gpu and not browser" $(PYTEST))

.PHONY: test-code
test-code: $(TEST_STAMP) ## pytest, also the slow tests, without GPU and browser
	$(call stage,code,$(IN_VENV) -m pytest -q -n auto --dist worksteal --durations=60 \
	  -m "not gpu and not browser$(if $(filter no,$(FURTHER)), and not further)" $(PYTEST))

.PHONY: test-further
test-further: $(TEST_STAMP) ## of `make test`, what .ci/run leaves out: further cases of tests that it runs on a sample, and long tests
	$(call stage,further cases,$(IN_VENV) -m pytest -q -n auto --dist worksteal -m "further and not gpu" $(PYTEST))

.PHONY: test-both-ways
test-both-ways: $(TEST_STAMP) ## the emulator's tests with blocks of code in NumPy, then with all of them compiled
	$(call stage,blocks in NumPy,$(IN_VENV) -m pytest -q -n auto --compiled-blocks none $(EMULATOR_TESTS) $(PYTEST))
	$(call stage,compiled blocks,$(IN_VENV) -m pytest -q -n auto --compiled-blocks all $(EMULATOR_TESTS) $(PYTEST))

.PHONY: test-notebooks
test-notebooks: $(TEST_STAMP) ## the notebooks through nbval
	$(call stage,notebooks,state=$$(mktemp -d) && trap 'rm -rf $$state' EXIT && $(IN_VENV) -m tests.tools.notebooks lint \
	  && XDG_STATE_HOME=$$state XDG_CACHE_HOME=$(COMPILED) $(IN_VENV) -m pytest -q -n auto --dist loadfile -p no:cacheprovider \
	  -p nbval.plugin --nbval-lax --nbval-current-env $(NOTEBOOKS))

# Three at a time on two cores: each test waits for pictures to come to rest for much of its time.
.PHONY: test-browser
test-browser: $(TEST_STAMP) ## the notebooks in JupyterLab, and the app, in a real Chromium
	$(call stage,browser,$(IN_VENV) -m pytest -q -n 3 --dist worksteal --durations=5 \
	  -m "browser$(if $(filter no,$(FURTHER)), and not further)" tests/browser \
	  $(if $(filter required,$(BROWSER)),--require-browser))

# axe-core checks contrast, names and keys. It comes from npm, and is no part of the project.
AXE := build/axe/package/axe.min.js
.PHONY: test-site
test-site: $(TEST_STAMP) ## the whole site: build it, open each page, move each explorer, compare states with Python
	$(call stage,site,$(IN_VENV) -m softlab.site build/site --keep build/site-kept \
	  && { [ -f $(AXE) ] || (mkdir -p build/axe && cd build/axe && npm pack --silent axe-core@4 && tar -xf axe-core-*.tgz); } \
	  && $(IN_VENV) -m pytest -q -n 0 --durations=5 -m browser tests/browser/test_site.py --site build/site \
	  $(if $(filter firefox,$(BROWSER)),--firefox,--require-browser) --axe $(AXE) $(PYTEST))

.PHONY: test-without-compiler
test-without-compiler: $(TEST_STAMP) ## the notebooks as on a Mac: NVRTC and nvdisasm hidden, the same outputs
	$(call stage,notebooks without a compiler,$(IN_VENV) -m tests.tools.programs hidden)

# The package of clang takes 0.4 GB, so that it is no part of the test tools.
.PHONY: test-clang
test-clang: $(TEST_STAMP) ## the tests of clang as the compiler (installs softlab[clang]: 0.1 GB to fetch)
	$(PIP) --no-build-isolation --editable '.[clang]'
	$(call stage,clang,$(IN_VENV) -m pytest -q tests/cuda/test_clang.py $(PYTEST))

# Its headers are 6 MB; the package also brings SciPy and others, so that it is no part of the test tools.
.PHONY: test-cutlass
test-cutlass: $(TEST_STAMP) ## the tests of kernels with CuTe (installs softlab[cutlass])
	$(PIP) --no-build-isolation --editable '.[cutlass]'
	$(call stage,cutlass,$(IN_VENV) -m pytest -q tests/cuda/test_cutlass.py $(PYTEST))

.PHONY: test-gpu
test-gpu: $(TEST_STAMP) ## the tests that need an NVIDIA GPU (fails without one)
	$(call stage,gpu,$(IN_VENV) -m pytest -q -m gpu --require-gpu $(PYTEST))

.PHONY: notebooks
notebooks: $(TEST_STAMP) ## execute every notebook and store its outputs, byte for byte the same each time
	$(IN_VENV) -m tests.tools.notebooks write

.PHONY: check-notebooks
check-notebooks: $(TEST_STAMP) ## execute every notebook and compare all outputs with the stored ones
	$(IN_VENV) -m tests.tools.notebooks check

.PHONY: programs
programs: $(TEST_STAMP) ## compile the kernels of the lessons, gallery and explorers again, for machines without NVRTC
	$(IN_VENV) -m tests.tools.programs write

.PHONY: screenshots
screenshots: $(TEST_STAMP) ## the README's pictures, and every explorer in both themes (build/explorers)
	$(IN_VENV) -m tests.tools.screenshots

.PHONY: latency
latency: $(TEST_STAMP) ## milliseconds from a key to the new picture, for every explorer
	$(IN_VENV) -m tests.tools.latency

# Run it with the oldest Python that softlab supports: some packages need a newer one than 3.11.0.
.PHONY: constraints
constraints: ## write constraints.txt again, from the newest versions that pyproject.toml allows
	rm -rf build/constraints
	$(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip --disable-pip-version-check install --quiet hatchling editables
	build/constraints/bin/python -m pip --disable-pip-version-check install --quiet --no-build-isolation -e '.[cuda12,lab,test]'
	build/constraints/bin/python tests/tools/constraints.py > build/constraints.txt
	mv build/constraints.txt constraints.txt
	rm -rf build/constraints
	@echo "Now run make test-platforms: a new version may have no wheel for some platform."

.PHONY: test-platforms
test-platforms: $(TEST_STAMP) ## whether constraints.txt has wheels for Linux, Windows and Macs (asks the package index)
	test -x build/uv/bin/uv || { $(PYTHON) -m venv build/uv && build/uv/bin/python -m pip install --quiet uv; }
	$(call stage,platforms,$(IN_VENV) -m tests.tools.platforms build/uv/bin/uv)

.PHONY: clean
clean: ## remove what was built (.venv too)
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name .ipynb_checkpoints -type d -prune -exec rm -rf {} +

# An environment whose first run was interrupted has no stamp, so it is made again.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "softlab needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Name another one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) has no venv module. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(LAB_STAMP): $(VENV)/.made pyproject.toml constraints.txt $(SHARED)
	@echo "Installing softlab with JupyterLab and CuPy into $(VENV): about a gigabyte, a minute or two the first time."
	$(PIP) hatchling editables
	$(PIP) --no-build-isolation --editable '.[cuda12,lab]'
	@touch $@

$(SITE_STAMP): $(LAB_STAMP)
	@echo "Installing Sphinx into $(VENV)."
	$(PIP) --no-build-isolation --editable '.[cuda12,lab,site]'
	@touch $@

# The lab is a part of it: one installation makes both stamps.
$(TEST_STAMP): $(VENV)/.made pyproject.toml constraints.txt $(SHARED)
	@echo "Installing softlab with JupyterLab, CuPy and the test tools into $(VENV): about a gigabyte."
	$(PIP) hatchling editables
	$(PIP) --no-build-isolation --editable '.[cuda12,lab,test]'
	@touch $(LAB_STAMP) $@
