# What CI runs, one line each. `.ci/run` is all of it on a fresh machine.
BIN := .venv/bin/
CORE := src/splice/protocol/*,src/splice/rules/*,src/splice/schema/*,src/splice/transports/*,src/splice/server/*,src/splice/client/*

.PHONY: check test cover conformance interop faces bench soak docs requirements fuzz

check:; $(BIN)ruff check && $(BIN)ruff format --check && $(BIN)mypy && $(BIN)basedpyright
test:; $(BIN)pytest -n 4
cover:; $(BIN)pytest -n 2 --cov --cov-report= && $(BIN)coverage report --fail-under=95 --include='$(CORE)'
conformance:; $(BIN)python tests/interop/setup_peers.py && $(BIN)python tests/conformance/run.py && PYTHONPATH=tests $(BIN)python -m conformance.issuer
interop:; $(BIN)python tests/interop/setup_peers.py && $(BIN)pytest -n 2 tests/interop
faces:; $(BIN)pytest -n 2 tests/faces
bench:; $(BIN)python -m bench
soak:; $(BIN)pytest -n 2 tests/soak && $(BIN)python bench/soak.py
requirements:; cd tests && ../$(BIN)python -m guards.requirements
fuzz:; $(BIN)python -m tests.fuzz
docs:; $(BIN)mkdocs build --strict
