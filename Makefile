# The commands of this project. Each first installs what the machine lacks.
.PHONY: setup demo test bench

setup:
	@scripts/setup

demo: setup
	cargo run --release --package ferrofuse-cli -- doctor

test: setup
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo test --workspace

bench: setup
	cargo run --release --package ferrofuse-cli -- bench
