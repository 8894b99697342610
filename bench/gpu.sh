#!/usr/bin/env bash
# Checks and measures ferrofuse on this machine's GPU: from a bundle (`make gpu-bundle`), without network, Rust or
# libLLVM.
#
#   ./gpu.sh [--quick] [PART…]     parts, without any all in this order:
#   facts check checks bench measured peers fuzz sweep counters sanitize
#
# Each part ends within 8 minutes and leaves its lines in results/PART, and all of them results/RESULTS-GPU.md. A part
# whose lines are there is not done again: remove the file to do so. --quick takes little time and says nothing about
# speed.
set -euo pipefail
cd "$(dirname "$0")"
export FERROFUSE_LIBLLVM=none FERROFUSE_CACHE=none

quick=
parts=()
known=(facts check checks bench measured peers fuzz sweep counters sanitize)
for word in "$@"; do
  case $word in
    --quick) quick=1 ;;
    *)
      [[ " ${known[*]} " == *" $word "* ]] || { echo "gpu.sh: no part \`$word\`: ${known[*]}" >&2; exit 2; }
      parts+=("$word")
      ;;
  esac
done
[ ${#parts[@]} -gt 0 ] || parts=("${known[@]}")
mkdir -p results

facts() {
  ./ferrofuse doctor || true # it tells of what is missing on the CPU too
  nvidia-smi --query-gpu=name,driver_version,clocks.max.mem,power.limit --format=csv 2>/dev/null || echo "no nvidia-smi"
}

# Every example beside the evaluator: few and odd rows and columns, and at its own sizes. The labels of cross_entropy
# are those of its own columns.
check() {
  local file sizes all=("i0=3 i1=64" "i0=17 i1=130") files=(examples/s*.py)
  [ "$quick" ] || all+=("i0=129 i1=1000" "") files=(examples/*.py)
  for file in "${files[@]}"; do
    for sizes in "${all[@]}"; do
      [[ $file != */cross_entropy.py ]] || sizes=${sizes% *}
      checked "$file" "$sizes"
    done
  done
}

checked() {
  local file=$1 sizes=$2 size said code=0 options=(--device cuda --check)
  for size in $sizes; do options+=(--size "$size"); done
  said=$(./ferrofuse run "$file" "${options[@]}" 2>&1) || code=$?
  case $code${sizes:+ given} in
    0*) said=matches ;;
    "2 given") said="does not have these sizes" ;;
    *) said="FAILED ($code): $(tail -n 1 <<<"$said")" ;;
  esac
  echo "$file ${sizes:-its own sizes}: $said"
}

bench() {
  if [ "$quick" ]; then
    ./ferrofuse bench add_mul_f32 softmax_bf16 --device cuda --warm --json --size i0=3 --size i1=64
  else
    ./ferrofuse bench --device cuda --json
  fi
}

fuzz() { ./ferrofuse fuzz --device cuda --seconds "$([ "$quick" ] && echo 2 || echo 240)" --seed 1; }

sweep() {
  if [ "$quick" ]; then echo "not in a quick run"; else ./ferrofuse bench --device cuda --sweep --json; fi
}

# The Python face, and torch.compile.
checks() {
  with_torch gpu_checks.py ${quick:+--quick} || echo "gpu_checks.py FAILED"
  with_torch gpu_torch.py --seconds 300 ${quick:+--quick} || echo "gpu_torch.py FAILED"
}

# Each workload beside a copy of as many bytes.
measured() { with_torch gpu_measured.py ${quick:+--quick} || echo "gpu_measured.py FAILED"; }

# Beside torch and the libraries that this Python has.
peers() { with_torch gpu_peers.py ${quick:+--quick}; }

# A script with the wheel of the bundle, where this Python has torch for the GPU.
with_torch() {
  local missing
  if ! missing=$(python3 -c 'import torch; torch.cuda.is_available() or exit("torch has no GPU")' 2>&1); then
    echo "$1: not run: $(tail -n 1 <<<"$missing")"
    return
  fi
  [ -d site ] || python3 -m zipfile -e ferrofuse-*.whl site
  PYTHONPATH=$PWD/site python3 "bench/$1" "${@:2}"
}

# What five kernels do, by the GPU's own counters.
counters() {
  local file metrics=gpu__time_duration.sum,dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
  metrics+=,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum
  command -v ncu >/dev/null || { echo "no ncu"; return; }
  for file in softmax layer_norm_backward silu_mul transpose_add cross_entropy; do
    echo "$file"
    ncu --csv --clock-control none --metrics $metrics ./ferrofuse run "examples/$file.py" --device cuda 2>&1 | grep '^"' || echo "FAILED"
  done
}

sanitize() {
  local tool file
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer"; return; }
  for tool in memcheck racecheck; do
    for file in examples/softmax.py examples/layer_norm_backward.py examples/transpose_add.py; do
      echo "$tool $file: $(compute-sanitizer --tool "$tool" ./ferrofuse run "$file" --device cuda --size i0=65 --size i1=200 2>&1 | tail -n 1)"
    done
  done
}

export -f "${known[@]}" checked with_torch
export quick
failed=0
for part in "${parts[@]}"; do
  if [ ! -e "results/$part" ]; then
    echo "gpu.sh: $part" >&2
    if timeout 480 bash -c "set -euo pipefail; $part" >results/partial; then
      mv results/partial "results/$part"
    else
      echo "gpu.sh: $part ended by $?; what it said is in results/partial.$part" >&2
      mv results/partial "results/partial.$part"
      failed=1
    fi
  fi
done
for told in results/check* results/measured; do
  if [ -e "$told" ] && grep "FAILED" "$told"; then failed=1; fi
done
python3 gpu_table.py results
exit $failed
