# `make gate` is the main job; `make quick`, `make test` and `make test-slow` test the package. Each creates what it needs,
# once.
PYTHON ?= python3
VENV ?= .venv
RUN = . $(VENV)/bin/activate &&
READY = $(VENV)/.installed
# What is recorded of the simulated judges: everything of two; of others what they are there to show.
WHOLE = faithful noisy
CUED = candid silent gpt-4o gemini-2.5-flash
WEAK = verbose obedient verbose-prepared obedient-prepared
GRADERS = faithful silent
OTHER_GRADERS = candid lenient noisy
STAKED_GRADERS = staked faithful
RECORD = pytest -q -n 2 --judge-record all
INTO ?= report/paper
TEST = pytest -n 3 --dist worksteal --snapshot-warn-unused  # on two cores: many tests wait for a server or another process
QUICK = pytest -n 2 --dist worksteal --snapshot-warn-unused
LOWEST = $(VENV)-lowest
# Where it is set, every process that a test starts would compile the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: gate quick test test-slow lowest docs reference cassettes record-paper paper browser pictures bench \
	operating-characteristics real-server real-judge real-scores real-choices frameworks clean

gate: $(READY)  ## replay the default judge: does it read, and do label, date or order move its verdicts?
	$(RUN) pytest -k "cue or position"

quick: $(READY)  ## between two edits: lint, and the unit tests that start nothing (a minute and a half at most)
	$(RUN) ruff check . && ruff format --check . && $(QUICK) -m "not whole and not slow" tests/unit

test: $(READY)  ## before a commit: lint, types, and the unit tests but for the slow ones (six minutes)
	$(RUN) ruff check . && ruff format --check . && mypy && $(TEST) -m "not slow" tests/unit

test-slow: $(READY)  ## what `make test` leaves out: kills, sweeps, long simulations, the documentation's commands, the suite itself
	$(RUN) $(TEST) -m slow tests/unit && pytest -n 2 tests/judge

lowest:  ## the unit tests but for the slow ones with the lowest versions that pyproject.toml allows (ten minutes)
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --constraint constraints-lowest.txt --editable '.[dev]'
	. $(LOWEST)/bin/activate && $(TEST) -m "not slow" tests/unit

browser: $(READY)  ## report.html and the labelling page in Chromium (Debian: chromium and chromium-driver): nothing of their data runs
	$(RUN) pip install --quiet --constraint constraints.txt --editable '.[dev,browser]'
	$(RUN) pytest -q -n 0 tests/browser && python benchmarks/page.py

# Exit code 1 is expected: README shows a gate that fails.
pictures: $(READY)  ## docs/images/: report.html of a simulated judge, light and dark, in Chromium (Debian: chromium, fonts-dejavu-core)
	$(RUN) pytest -q -k recency --judge simulated-gpt-4o --judge-dataset house-close --judge-report build/pictures || test $$? -eq 1
	for scheme in dark:0 light:1; do chromium --headless --no-sandbox --hide-scrollbars --window-size=960,580 \
		--force-device-scale-factor=1.25 --blink-settings=preferredColorScheme=$${scheme#*:} \
		--screenshot=docs/images/report-$${scheme%:*}.png build/pictures/report.html || exit 1; done

docs: $(READY)  ## the site, build/site/index.html: README and the pages of docs/; a link that leads nowhere is an error
	$(RUN) { python -c "import furo, myst_parser" 2>/dev/null || \
		pip install --quiet --constraint constraints.txt --editable '.[docs]'; }
	$(RUN) sphinx-build -q -W --keep-going -b html -c docs -d build/doctrees . build/site

reference: $(READY)  ## docs/reference/, from the code and tools/reference.toml
	$(RUN) python tools/reference.py

# Exit code 1 is expected: half of the simulated judges are there to fail the gate.
cassettes: $(READY)  ## record the simulated judges anew, over HTTP, with the real SDKs
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) --judge-repeats 2 $(WHOLE:%=--judge simulated-%) || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) --judge-repeats 2 $(CUED:%=--judge simulated-%) \
		-k "not (attack or verbosity or bias)" || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) $(WEAK:%=--judge simulated-%) \
		-k "accuracy or bias or attack or verbosity or plan" || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) --judge-repeats 2 $(GRADERS:%=--judge simulated-grader-%) \
		-k "recency or provenance or noise or verbosity or attack" || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) $(OTHER_GRADERS:%=--judge simulated-grader-%) -k "recency or provenance" || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) $(STAKED_GRADERS:%=--judge simulated-grader-%) -k framing || test $$? -eq 1
	$(RUN) python -m judgefixtures.simulator --port 8080 -- \
		$(RECORD) --judge simulated-grader-worded -k wording || test $$? -eq 1
	$(RUN) cd examples/support-judge && python -m judgefixtures.simulator --port 8080 -- pytest -q \
		-k "cue or position" --judge candidate --judge production --judge-record all || test $$? -eq 1

PAPER = pytest -k "recency or provenance" --judge gpt-4o --judge gemini-2.5-flash \
	--judge-dataset eli5 --judge-dataset litbench --judge-pairs 100 --judge-record missing

# Exit code 1 is expected here too: judges that do as the paper found fail the gate.
record-paper: $(READY)  ## the paper's experiment, with two API keys and the hub: says what it costs, and asks (YES=1: does not)
	$(RUN) $(PAPER) --judge-preflight
	@test -n "$$OPENAI_API_KEY" && test -n "$$GEMINI_API_KEY" || { \
		echo "OPENAI_API_KEY and GEMINI_API_KEY must hold the API keys of the two judges: nothing was asked." >&2; exit 2; }
	@test -n "$(YES)" || { printf "Ask all of that, at this cost? [y/N] "; read answer && test "$$answer" = y; }
	$(RUN) $(PAPER) || test $$? -eq 1

# Exit code 1 where a number differs from the published one, 10 where one is not recorded: docs/how-to/paper.md.
paper: $(READY)  ## the paper's tables and its figure, from the recordings (INTO=folder, ARGS="--judge NAME")
	$(RUN) judgefixtures paper --into $(INTO) $(ARGS)

bench: $(READY)  ## replay, recording and start-up, as ratios measured in one run (needs the package cassetter, installed here)
	$(RUN) pip install --quiet --constraint constraints.txt --editable '.[bench]'
	$(RUN) python benchmarks/replay.py && python benchmarks/gate.py && python benchmarks/recording.py && python benchmarks/startup.py

operating-characteristics: $(READY)  ## error rates of the swap decision, simulated through the same code
	$(RUN) python benchmarks/operating_characteristics.py

REAL = examples/real-model
SERVED = $(abspath $(VENV))-real
THREADS ?= 1
IN_REAL = cd $(REAL) && . $(SERVED)/bin/activate &&
SERVE = $(IN_REAL) python serve.py --threads $(THREADS)
ASK = pytest -q -n 0 --judge-config {config} --judge-record missing --judge-concurrency 1 --judge-force
SCORED = --judge smollm2-scores -k "recency or human-llm"
AGAIN = --judge smollm2-scores --judge-pairs 30 --judge-repeats 2 -k repeat
CHOSEN = --judge smollm2-pairs --judge-pairs 60 -k "(recency or expert-unknown or human-llm or position) and not four_cells"
GRADED = --judge smollm2-grades -k recency
SHOWN = { code=$$?; test $$code -le 1 -o $$code -eq 10 || exit $$code; }

# Exit code 1 is expected: a model of 135 million parameters fails its control.
real-judge: $(SERVED)/.installed  ## a small real model as judge: serves it here, records what is missing, gates (a quarter of an hour)
	$(MAKE) --no-print-directory -j 2 real-scores real-choices
	$(IN_REAL) pytest -q $(SCORED) || $(SHOWN)
	$(IN_REAL) pytest -q $(AGAIN) || $(SHOWN)
	$(IN_REAL) pytest -q $(CHOSEN) || $(SHOWN)
	$(IN_REAL) pytest -q $(GRADED) || $(SHOWN)

# A judge that fails its control is asked nothing else, so that the rest is recorded without one, and first. Each
# judge has a server of its own, which keeps what it has read.
real-scores: $(SERVED)/.installed
	$(SERVE) --uncontrolled -- sh -c '$(ASK) $(SCORED) || $(SHOWN) && $(ASK) $(AGAIN)' || $(SHOWN)
	$(SERVE) -- $(ASK) $(SCORED) || $(SHOWN)

real-choices: $(SERVED)/.installed
	$(SERVE) --uncontrolled -- $(ASK) $(CHOSEN) || $(SHOWN)
	$(SERVE) -- sh -c '$(ASK) $(CHOSEN) || $(SHOWN) && $(ASK) $(GRADED)' || $(SHOWN)

# LLAMA_CPP_PYTHON=1 adds the checks of llama-cpp-python's server, which has to be built: a compiler, and ten minutes.
real-server: $(READY) $(SERVED)/.installed  ## a gate over llama.cpp's own server with a small real model
	$(if $(LLAMA_CPP_PYTHON),$(PYTHON) -m venv $(VENV)-llama && $(VENV)-llama/bin/pip install --quiet 'llama-cpp-python[server]')
	$(RUN) JUDGEFIXTURES_REAL_PYTHON=$(SERVED)/bin/python \
		$(if $(LLAMA_CPP_PYTHON),JUDGEFIXTURES_LLAMA_PYTHON=$(abspath $(VENV))-llama/bin/python) pytest -n 0 -rs tests/real

FRAMEWORKS = $(VENV)-frameworks
# The frameworks of tests/frameworks, each with what its judge there needs beside it.
NAMES = deepeval autoevals openevals pydantic-evals inspect-ai mlflow ragas arize-phoenix-evals langchain haystack-ai dspy
WITH_autoevals = openai
WITH_openevals = langchain-openai
WITH_pydantic-evals = 'pydantic-ai-slim[openai]'
WITH_inspect-ai = openai
WITH_ragas = 'langchain-community<0.4'
WITH_arize-phoenix-evals = openai
WITH_langchain = langchain-openai

frameworks: $(READY) $(NAMES:%=$(FRAMEWORKS)/%/.installed)  ## judges of eleven frameworks, each in its newest version and an environment of its own
	$(RUN) JUDGEFIXTURES_FRAMEWORKS=$(abspath $(FRAMEWORKS)) pytest -n 2 tests/frameworks

$(FRAMEWORKS)/%/.installed: pyproject.toml
	$(PYTHON) -m venv $(FRAMEWORKS)/$*
	$(FRAMEWORKS)/$*/bin/pip install --quiet --editable . $* $(WITH_$*)
	touch $@

$(SERVED)/.installed: $(REAL)/requirements.txt constraints.txt
	$(PYTHON) -m venv $(SERVED)
	$(SERVED)/bin/pip install --quiet --no-compile --constraint constraints.txt --editable .
	$(SERVED)/bin/pip install --quiet --no-compile --no-deps --requirement $<
	touch $@

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN) pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) $(VENV)-real report .pytest_cache .mypy_cache .ruff_cache .hypothesis
