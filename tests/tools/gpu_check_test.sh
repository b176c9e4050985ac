#!/usr/bin/env bash
# tools/gpu/run and look on a machine and an archive that are made up.
set -uo pipefail
tools=$PWD/tools/gpu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export TMPDIR=$scratch/tmp
failures=0

fail() { echo "FAILED: $1" >&2; failures=$((failures + 1)); }
expect() { [ "$2" = "$3" ] || fail "$1: $2, not $3"; }
expect_in() { grep -q -e "$2" "$1" || { fail "no \"$2\" in $1:"; cat "$1" >&2; }; }
expect_not_in() { ! grep -q -e "$2" "$1" || { fail "\"$2\" in $1:"; cat "$1" >&2; }; }

# program FILE: a script of what comes in.
program() { { echo '#!/usr/bin/env bash'; cat; } >"$1" && chmod +x "$1"; }

# An archive whose programs all end well at once, on a machine with everything.
begin() {
  rm -rf "${scratch:?}"/*
  archive=$scratch/archive out=$scratch/out
  mkdir -p "$TMPDIR" "$archive/tests" "$archive/bin"
  cp "$tools/run" "$archive/run"
  echo 1234567 >"$archive/revision"
  program "$archive/look" <<<"printf 'gpu: Fake\ncompute-sanitizer: %s\ntorch: \n' $scratch/sanitizer"
  program "$scratch/sanitizer" <<<'echo "$*" >>'"$scratch/sanitized"'; echo "========= ERROR SUMMARY: 0 errors"'
  for test in cuda_mix_test cuda_network_test; do
    program "$archive/tests/$test" <<<'echo "[       OK ] Suite.Case (3 ms)"'
  done
  program "$archive/bin/cuda_vector_passes" <<<'echo "| mix | 12 |"'
  program "$archive/bin/training_bench" <<<'echo "${!#}   900 samples/s; PyTorch does not run here"'
  program "$archive/bin/grapevine" <<'GRAPEVINE'
for argument in "$@"; do [[ $argument != --out=* ]] || run=${argument#*=}; done
mkdir -p "$run/node-0"
for round in 5 10 15 20; do
  echo "{\"round\": $round, \"time_s\": $round, \"mix_s\": 0.5, \"test_loss\": 1.5}"
done | tee "$run/metrics.jsonl" >"$run/node-0/metrics.jsonl"
echo '{"test_accuracy": 0.5, "wall_time_s": 7}' >"$run/summary.json"
GRAPEVINE
}
run() { bash "$archive/run" "$@" >"$scratch/said" 2>&1; }

begin
run "$out"
expect "all is well" $? 0
expect_in "$out/report.md" '^- cuda_mix_test: 1 passed, 0 skipped, 0 failed'
expect_in "$out/report.md" '^- resnet50, bf16, batch 128, recorded: 900 samples/s'
expect_in "$out/report.md" '^- a gradient of 50 ms: a round of 1000.0 ms, 100.0 ms of it mixing'
expect_in "$out/report.md" '^- cuda: test loss 1.5 1.5 1.5 1.5 ; accuracy 0.5; 7 s'
expect_in "$out/report.md" '^- memcheck cuda_network_test: ERROR SUMMARY: 0 errors'
expect_in "$out/report.md" 'All that was asked for was run'
expect_in "$scratch/sanitized" 'memcheck.*cuda_network_test.*--gtest_filter=.*-\*resnet50'
expect_not_in "$scratch/sanitized" 'racecheck.*cuda_network_test'
expect "files of the report" "$(ls "$out" | tr '\n' ' ')" "details.log report.md "
expect "files left behind" "$(ls "$TMPDIR")" ""

begin
program "$archive/tests/cuda_mix_test" <<<'echo "x.cc:3: Failure"; echo "[  FAILED  ] Suite.Case (3 ms)"; exit 1'
program "$archive/bin/training_bench" <<<'echo "out of memory"; exit 4'
run "$out" tests training
expect "a test failed" $? 1
expect_in "$out/report.md" '^- cuda_mix_test: 0 passed, 0 skipped, 1 failed'
expect_in "$out/report.md" '> x.cc:3: Failure'
expect_in "$out/report.md" 'recorded: \*\*ended with 4\*\*: out of memory'
expect_in "$out/report.md" '^- cuda_network_test: 1 passed'

begin  # a GPU that our programs do not see
program "$archive/tests/cuda_mix_test" <<<'echo "no usable GPU: the driver is too old"; echo "[  SKIPPED ] Suite.Case (0 ms)"'
run "$out" tests
expect "a GPU that is not seen" $? 1
expect_in "$out/report.md" 'skipped: no usable GPU: the driver is too old'

begin  # the time is up before anything is begun
run --seconds=60 --spent=50 "$out" passes tests
expect "no time" $? 0
expect_in "$out/report.md" '^- cuda_mix_test: not run: no time left'
expect_in "$out/report.md" 'Left for another call: passes tests'

begin  # ended from outside
program "$archive/tests/cuda_network_test" <<<"echo first words; touch $scratch/begun; exec sleep 1000"
bash "$archive/run" "$out" >"$scratch/said" 2>&1 &
runner=$!
for _ in {1..3000}; do [ ! -e "$scratch/begun" ] || break; sleep 0.01; done
kill -TERM $runner
wait $runner
expect "ended from outside" $? 143
expect_in "$out/report.md" '^- cuda_mix_test: 1 passed'
expect_in "$out/report.md" '^- cuda_network_test: \*\*not finished\*\*: this run was ended from outside'
expect_in "$out/report.md" 'Left for another call: tests passes training gossip cifar sanitizer'
expect_in "$out/details.log" 'first words'
expect "files left behind" "$(ls "$TMPDIR")" ""

begin
program "$scratch/sanitizer" <<<'echo "========= Error: Device not supported"; exit 1'
run "$out" sanitizer
expect "a refusal" $? 0
expect_in "$out/report.md" 'refused by this machine: .*Device not supported'

begin
program "$scratch/sanitizer" <<<'echo "========= Invalid __global__ read of size 4 bytes"; echo "========= ERROR SUMMARY: 1 error"; exit 9'
run "$out" sanitizer
expect "a finding" $? 1
expect_in "$out/report.md" 'memcheck cuda_mix_test: \*\*ended with 9\*\*.*ERROR SUMMARY: 1 error'

for words in "--seconds=5 $out" "--second=60 $out" "$out tset" ""; do
  # shellcheck disable=SC2086
  run $words
  expect "wrong words ($words)" $? 2
done

# look: an nvidia-smi that does not work, a driver behind a link, cuDNN of a wheel, a
# PyTorch that sees nothing.
begin
mkdir -p "$scratch"/{bin,driver,wheels/nvidia/cudnn/lib}
touch "$scratch/driver/libcuda.so.1" \
  "$scratch"/wheels/nvidia/cudnn/lib/{libcudnn.so.9,libcublasLt.so.13}
ln -s driver "$scratch/link"
program "$scratch/bin/ldconfig" <<<'exit 1'
program "$scratch/bin/nvidia-smi" <<<'echo "NVIDIA-SMI has failed"; exit 9'
program "$scratch/bin/python" <<<'case $2 in *torch*) echo blind 2.11 ;; *) echo '"$scratch/wheels"' ;; esac'
LD_LIBRARY_PATH=$scratch/link PYTHON=$scratch/bin/python PATH=$scratch/bin:$PATH \
  bash "$tools/look" >"$scratch/said"
expect_in "$scratch/said" "^driver: $scratch/link\$"
expect_in "$scratch/said" "^cudnn: $scratch/wheels/nvidia/cudnn/lib\$"
expect_not_in "$scratch/said" '^gpu: .*failed'
expect_in "$scratch/said" "^note: the PyTorch of $scratch/bin/python, 2.11, sees no GPU"

[ $failures -eq 0 ] && echo "all as expected"
exit $((failures > 0))
