# Everything starts here. `make` alone prints what there is.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

# The machine's own certificates first: behind a company's proxy only they are right. Wheels only (pyspark is plain Python), so
# that nothing needs a compiler. Bytecode as pip would write it: without, every command spends half of its start on compiling click.
UV     := $(BIN)/uv pip --quiet
SYNC   := $(UV) sync --compile-bytecode --python $(BIN)/python --require-hashes --only-binary :all: --no-binary pyspark requirements/dev.txt
# The AMQP client has no wheels: it is compiled where there is a compiler, and its absence is reported where there is none.
AMQP   := $(UV) install --python $(BIN)/python --require-hashes -r requirements/amqp.txt

.DEFAULT_GOAL := help
.PHONY: help setup demo test postgres search long check bench docs format lock clean

help: ## Print this help
	@echo "Postroom: what to type"
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## Create .venv with everything Postroom and its tests need

$(STAMP): requirements/bootstrap.txt requirements/dev.txt requirements/amqp.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Postroom needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make setup PYTHON=python3.12")'
	@echo "Setting up $(VENV) (the first time takes a minute or two) …"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
	@$(SYNC) --system-certs || { echo "Once more with uv's own certificates …"; $(SYNC); }
	@$(UV) install --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@{ $(AMQP) --system-certs || $(AMQP); } >$(VENV)/amqp.log 2>&1 || { \
	  echo "NOT INSTALLED: python-qpid-proton, the AMQP 1.0 client: it has to be compiled, and that failed ($(VENV)/amqp.log says why)."; \
	  echo "Everything else works. For AMQP install a C compiler and the headers of Python and OpenSSL (Debian: gcc libssl-dev python3-dev), then: make -B setup"; }
	@touch $@
	@echo "Ready: $(BIN)/postroom"

demo: setup ## Sort 20,000 mixed messages into typed tables, end to end (UI=1: keep the web pages open)
	@$(BIN)/python -m demo $(if $(UI),--ui)

# What is about registries: each of these tests opens SQLite files, or registries in PostgreSQL with TEST_STORE=postgresql.
REGISTRY := tests/registry tests/conformance tests/http tests/access tests/replication tests/catalog tests/cli

test: setup ## Run all tests, and a share of those about registries on PostgreSQL, too
	@$(BIN)/python -m pytest -n 2 --dist loadgroup
	@TEST_STORE=postgresql TEST_SHARE=20 $(BIN)/python -m pytest -n 2 --dist loadgroup $(REGISTRY)

postgres: setup ## Run all tests about registries on PostgreSQL (TEST_POSTGRES=15: on the system's 15)
	@TEST_STORE=postgresql $(BIN)/python -m pytest -n 2 --dist loadgroup $(REGISTRY)

search: setup ## Run the property tests with new random inputs
	@HYPOTHESIS_PROFILE=search $(BIN)/python -m pytest -n 2 --dist loadgroup -m hypothesis

long: search postgres ## Run what takes too long for every day: new random inputs, registries on PostgreSQL, crashes, tenants beside each other, the endurance of the service
	@CRASHES=30 CRASH_RECORDS=1000000 $(BIN)/python -m pytest tests/pipeline/test_crashes.py
	@CLUSTER_RECORDS=200000 CLUSTER_KILLS=3 $(BIN)/python -m pytest tests/pipeline/spark/test_cluster.py
	@OBJECT_STORES=1 $(BIN)/python -m pytest tests/pipeline/storage/test_storage.py
	@CONNECT=1 $(BIN)/python -m pytest tests/pipeline/spark/test_connect.py
	@LEAKS=20000 $(BIN)/python -m pytest tests/http/access/test_leaks.py
	@KAFKA_MESSAGES=200000 $(BIN)/python -m pytest tests/integration/test_kafka_estate.py
	@FRANZ_GO=1 NODE_CLIENT=1 $(BIN)/python -m pytest tests/http/confluent/test_other_clients.py
	@$(BIN)/python -m tests.endurance.fuzz_run --requests 100000
	@KILLS=50 $(BIN)/python -m pytest -s tests/endurance/test_write_storm.py
	@ROUNDS=400 $(BIN)/python -m pytest -s tests/endurance/test_concurrency.py
	@$(BIN)/python -m tests.endurance.mixed_traffic --minutes 30

check: setup ## Format, lint, types, order of imports, dead code
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/vulture

bench: setup ## Measure, side by side, as ratios
	@$(BIN)/python -m bench

docs: setup ## Build the documentation into site/
	@$(BIN)/python scripts/reference.py
	@$(BIN)/python scripts/conformance.py
	@$(BIN)/zensical build --clean

format: setup ## Put the code into the house format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Every extra that installs without a compiler; not connect, whose pandas pyspark would use everywhere.
EXTRAS  := spark postgres kafka mqtt nats tracing
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	--custom-compile-command "make lock"

$(BIN)/uv: requirements/bootstrap.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt

lock: $(BIN)/uv ## Pin the dependencies anew
	@$(COMPILE) requirements/bootstrap.in -o requirements/bootstrap.txt
	@$(COMPILE) pyproject.toml $(EXTRAS:%=--extra %) --group dev -o requirements/dev.txt
	@$(COMPILE) pyproject.toml --extra amqp --constraint requirements/dev.txt -o requirements/amqp.txt
	@$(COMPILE) pyproject.toml -o requirements/plain.txt
	@$(COMPILE) pyproject.toml --extra postgres --extra tracing --constraint requirements/dev.txt -o requirements/server.txt

clean: ## Remove what was built, keep .venv
	@rm -rf site dist build demo-lake demo-work spark-warehouse .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
