# The commands of this project. Each first installs what the machine lacks.
.PHONY: setup demo test test-torch test-thunder bench bench-peers gpu-bundle python wheel

TARGET := $(or $(CARGO_TARGET_DIR),target)
FERROFUSE := cargo run --quiet --release --package ferrofuse-cli --
DEMO := examples/modulated_layer_norm_backward.py

setup:
	@scripts/setup

demo: setup
	cargo build --release --package ferrofuse-cli
	$(FERROFUSE) run $(DEMO) --check --time
	$(FERROFUSE) explain $(DEMO)

# The Python package, built and installed into .venv so that changes of its Python files take effect at once.
python: setup
	VIRTUAL_ENV=$(CURDIR)/.venv .venv/bin/maturin develop --quiet

wheel: setup
	.venv/bin/maturin build --profile dist --out $(TARGET)/wheels

test: setup
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace # builds the binary too, which the lines below run
	.venv/bin/python tests/numpy/oracle.py $(TARGET)/debug/ferrofuse
	$(TARGET)/debug/ferrofuse fuzz --seconds 15 --seed 1 --output $(TARGET)/found
	# The Python library as the workspace builds it: maturin would compile all that it needs again, with fewer features.
	cargo build --workspace --lib --tests
	install $(TARGET)/debug/libferrofuse_native.so python/ferrofuse/_native.abi3.so
	.venv/bin/python -m mypy
	PYTHONPATH=$(CURDIR)/python .venv/bin/python -m pytest --quiet --numprocesses auto --dist loadfile

# The tests that need torch and JAX, which are installed from PyPI (about 6 GB), and those that take minutes.
test-torch: python
	@scripts/setup-torch
	cargo build --quiet --package ferrofuse-testing --examples # draws the random programs
	VIRTUAL_ENV=$(CURDIR)/.venv-torch .venv/bin/maturin develop --quiet
	.venv-torch/bin/python -m pytest --quiet --override-ini addopts=--ignore=python/tests/thunder python/tests

# Lightning Thunder on `ferrofuse.compat`: its own tests of its nvFuser executor, ours, and the recipes of docs/migration.md.
# Thunder and torch are installed from PyPI (about 6 GB).
test-thunder: setup
	@scripts/setup-thunder
	VIRTUAL_ENV=$(CURDIR)/.venv-thunder .venv/bin/maturin develop --quiet
	# Each file in a process of its own: some undo what others need.
	for file in python/tests/thunder/test_*.py; do \
	  .venv-thunder/bin/python -m pytest --quiet --override-ini addopts= --disable-warnings $$file || exit 1; \
	done

# What `gpu.sh` in it needs on a machine with NVIDIA's driver and NVRTC, and nothing else: below 30 MiB.
gpu-bundle: wheel
	cargo build --release --package ferrofuse-cli
	rm -rf $(TARGET)/gpu-bundle
	scripts/gpu-bundle $(TARGET)/release/ferrofuse $(TARGET)/gpu-bundle "$$(ls -t $(TARGET)/wheels/*.whl | head -n 1)"
	strip $(TARGET)/gpu-bundle/ferrofuse
	tar -czf $(TARGET)/gpu-bundle.tar.gz -C $(TARGET) gpu-bundle
	@ls -l $(TARGET)/gpu-bundle.tar.gz

bench: setup
	$(FERROFUSE) bench

# The same workloads beside torch.compile, torch eager and JAX, which are installed from PyPI (about 6 GB).
bench-peers: setup
	@scripts/setup-torch
	VIRTUAL_ENV=$(CURDIR)/.venv-torch .venv/bin/maturin develop --quiet --profile dist
	.venv-torch/bin/python bench/peers.py
	.venv-torch/bin/python bench/peers.py --sweep
