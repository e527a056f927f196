# Everything a developer runs. `make lab` and `make test` set a fresh machine up by themselves:
# Python 3.11 or newer, Node 20.19 or newer and make are all they need.
SHELL := /bin/bash
PY ?= python3
V := .venv
BIN := $(CURDIR)/$(V)/bin
ROOT ?= .
PORT ?= 8888
AGENTS ?= claude
# A sub-make and its children find our programs first; the build hook needs jupyter-builder there.
export PATH := $(BIN):$(PATH)

.DEFAULT_GOAL := help
.PHONY: help setup build lab test check format protocol agents test-agents bench faults pictures goldens clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

# --- set-up -------------------------------------------------------------------------------
# Three steps with a stamp each, so that a changed source file costs a rebuild and nothing more.
PYTHON_STAMP := $(V)/.stamp-python
NODE_STAMP := labextension/node_modules/.stamp
FRONT_STAMP := $(V)/.stamp-front
FRONT_LINK := $(V)/share/jupyter/labextensions/jupyter-agentchat
FRONT_SOURCES := $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null) \
	labextension/tsconfig.json labextension/package.json

setup: $(PYTHON_STAMP) $(FRONT_STAMP) ## virtual environment, node modules, front end

build: $(FRONT_STAMP) ## build the front end when its sources changed

$(V)/bin/python:
	$(PY) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PY=python3.11")'
	$(PY) -m venv $(V)

$(NODE_STAMP): labextension/package-lock.json labextension/.npmrc
	cd labextension && npm ci
	touch $@

# The build hook is skipped: it would call `npm install`, which rewrites the lock file.
# Without `rm`, pip would follow the link made below and delete the build behind it.
$(PYTHON_STAMP): pyproject.toml jupyter-config/server-config/jupyter_agentchat.json | $(V)/bin/python
	rm -rf $(FRONT_LINK)
	mkdir -p jupyter_agentchat/labextension
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install -q -e '.[lab,test,check]'
	touch $@

# The install copied the front end of that moment; the link makes every later build count.
$(FRONT_STAMP): $(FRONT_SOURCES) $(NODE_STAMP) $(PYTHON_STAMP)
	cd labextension && npm run -s build:prod
	$(BIN)/jupyter-builder develop --overwrite jupyter_agentchat
	touch $@

# --- run ----------------------------------------------------------------------------------
lab: setup ## JupyterLab with the panel (ROOT=folder PORT=number)
	$(BIN)/jupyter lab --ip=127.0.0.1 --port=$(PORT) --ServerApp.root_dir='$(ROOT)' $(if $(filter 0,$(shell id -u)),--allow-root)

# --- test ---------------------------------------------------------------------------------
# REQUIRE_BROWSER=1 and REQUIRE_AGENTS=1 turn the skips for a missing browser, or CLI of AGENTS, into
# errors.
test: setup $(if $(REQUIRE_AGENTS),agents) ## all tests; prints what was skipped and why
	cd labextension && npx vitest run
	REQUIRE_AGENTS='$(if $(REQUIRE_AGENTS),$(AGENTS))' $(BIN)/python -m pytest -q -rs

bench: setup ## ratios against a floor of the same run (B=P1 for one, DOCS=1 rewrites the table in docs/performance.md)
	$(BIN)/python -m tests.bench $(B) $(if $(DOCS),--docs)

KILLS ?= 1000
faults: setup ## kill servers and agents, test every promise, write docs/faults.md (KILLS=n, CASE=n for one)
	$(BIN)/python -m tests.faults $(if $(CASE),--case $(CASE),--kills $(KILLS))

pictures: setup agents ## take the docs' screenshots again (needs Chromium)
	PICTURES=write $(BIN)/python -m pytest -q -rs tests/browser

goldens: setup ## rewrite the golden events, to be reviewed like code
	GOLDENS=write $(BIN)/python -m pytest -q tests/unit

# --- agents: the real CLIs, installed by whoever runs the tests, never committed --------------
# The pin is in the stamp's name, so a changed pin installs again.
CLAUDE_PIN := claude-agent-sdk==0.2.189
CODEX_PIN := @openai/codex@0.171.0
OPENCODE_PIN := opencode-ai@1.18.33
KIMI_PIN := @moonshot-ai/kimi-code@2.1.0 node@24
GEMINI_PIN := @google/gemini-cli@0.61.0 node@24
QWEN_PIN := @qwen-code/qwen-code@0.24.4 node@24
stamp = .clis/$(1)/.stamp-$(lastword $(subst @, ,$(subst =, ,$(firstword $(2)))))
CLAUDE_STAMP := $(call stamp,claude,$(CLAUDE_PIN))
CODEX_STAMP := $(call stamp,codex,$(CODEX_PIN))
OPENCODE_STAMP := $(call stamp,opencode,$(OPENCODE_PIN))
KIMI_STAMP := $(call stamp,kimi,$(KIMI_PIN))
GEMINI_STAMP := $(call stamp,gemini,$(GEMINI_PIN))
QWEN_STAMP := $(call stamp,qwen,$(QWEN_PIN))
STAMP_OF_claude := $(CLAUDE_STAMP)
STAMP_OF_codex := $(CODEX_STAMP)
STAMP_OF_opencode := $(OPENCODE_STAMP)
STAMP_OF_kimi := $(KIMI_STAMP)
STAMP_OF_gemini := $(GEMINI_STAMP)
STAMP_OF_qwen := $(QWEN_STAMP)

agents: setup $(foreach agent,$(AGENTS),$(or $(STAMP_OF_$(agent)),$(error unknown agent $(agent): claude codex opencode kimi gemini qwen))) ## install the pinned CLIs (AGENTS="claude codex opencode kimi gemini qwen")

test-agents: agents ## tests of the real CLIs against fake model servers
	REQUIRE_AGENTS='$(AGENTS)' $(BIN)/python -m pytest -q -rs tests/agents

$(CLAUDE_STAMP): | $(PYTHON_STAMP)
	rm -rf .clis/claude
	$(BIN)/python -m pip install -q --no-deps --target .clis/claude '$(CLAUDE_PIN)'
	touch $@

$(CODEX_STAMP): PACKAGES = $(CODEX_PIN)
$(OPENCODE_STAMP): PACKAGES = $(OPENCODE_PIN)
$(KIMI_STAMP): PACKAGES = $(KIMI_PIN)
$(GEMINI_STAMP): PACKAGES = $(GEMINI_PIN)
$(QWEN_STAMP): PACKAGES = $(QWEN_PIN)
$(CODEX_STAMP) $(OPENCODE_STAMP) $(KIMI_STAMP) $(GEMINI_STAMP) $(QWEN_STAMP):
	rm -rf $(@D) && mkdir -p $(@D)
	npm install --prefix $(@D) $(PACKAGES)
	touch $@

# --- check --------------------------------------------------------------------------------
check: setup ## every linter and type checker; the generated protocol is up to date
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m jupyter_agentchat.protocol.schema --check
	cd labextension && npm run -s typecheck
	cd labextension && npm run -s lint
	cd labextension && npm run -s format:check
	cd labextension && npm run -s layers

format: setup ## let the formatters rewrite the sources
	$(BIN)/ruff check --fix -q . || true
	$(BIN)/ruff format .
	cd labextension && npm run -s format

protocol: setup ## pydantic models -> JSON Schema -> TypeScript -> docs/protocol.md
	$(BIN)/python -m jupyter_agentchat.protocol.schema

clean: ## remove what was built; the environment and the CLIs stay
	rm -rf build dist jupyter_agentchat/labextension labextension/lib $(FRONT_STAMP) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
	find jupyter_agentchat tests -name __pycache__ -type d -prune -exec rm -rf {} +
