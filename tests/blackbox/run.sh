#!/usr/bin/env bash
# Runs the black-box suites (python, javascript, rust, or those named) against servers of the binary PARTITA_BINARY, on free ports
# with temporary data folders, or against whatever already listens at PARTITA_ENDPOINT.
set -uo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/target/blackbox
binary=${PARTITA_BINARY:-$root/target/release/partita}
given=${PARTITA_ENDPOINT:-}
suites=("$@")
[ $# -gt 0 ] || suites=(python javascript rust)
mkdir -p "$work"

server=
scratch=$(mktemp -d)
stop() {
  if [ -n "$server" ]; then
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
  fi
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

start_server() {
  "$binary" serve --port 0 --data "$scratch/data" >"$scratch/log" 2>&1 &
  server=$!
  for _ in $(seq 300); do
    PARTITA_ENDPOINT=$(grep -om1 'http://127\.0\.0\.1:[0-9]*' "$scratch/log")
    [ -n "$PARTITA_ENDPOINT" ] && return 0
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  echo "the server announced no endpoint:" >&2
  cat "$scratch/log" >&2
  return 1
}

# Each worker starts its own server, unless an endpoint is given: then one worker runs all tests.
python_suite() {
  [ -x "$work/venv/bin/python" ] || python3 -m venv "$work/venv" || return 1
  "$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$here/python/requirements.txt" || return 1
  local workers=3
  [ -z "$given" ] && unset PARTITA_ENDPOINT || workers=0
  mkdir -p "$scratch/python"
  (cd "$here/python" && PARTITA_TEST_DATA="$scratch/python" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" -m pytest \
    -q --tb=short --durations=10 --numprocesses "$workers" --dist loadfile)
}

javascript_suite() {
  (cd "$here/javascript" && npm install --silent --no-audit --no-fund && node --test --test-reporter=spec)
}

rust_suite() {
  (cd "$here/rust" && CARGO_TARGET_DIR="$work/rust" cargo test --quiet -- --nocapture)
}

if [ -z "$given" ] && [ "${suites[*]}" != python ]; then
  start_server || exit 1
  export PARTITA_ENDPOINT
fi

failed=()
summary=()
for suite in "${suites[@]}"; do
  echo "== $suite"
  begun=$SECONDS
  if ! "${suite}_suite" 2>&1 | tee "$work/$suite.log"; then
    failed+=("$suite")
  fi
  # the last lines that count something are the runner's own summary
  counts=$(grep -aE '^=* ?[0-9]+ (passed|failed)|^ℹ (pass|fail) |[0-9]+ patterns, ' "$work/$suite.log" | tail -2 | tr '\n' ' ')
  summary+=("$suite ($((SECONDS - begun)) s): $counts")
done

if [ -n "$server" ] && ! kill -0 "$server" 2>/dev/null; then
  echo "the server ended during the tests:" >&2
  tail -20 "$scratch/log" >&2
  failed+=(server)
fi

echo "== summary"
printf '%s\n' "${summary[@]}"
if [ ${#failed[@]} -gt 0 ]; then
  echo "failed: ${failed[*]}"
  exit 1
fi
echo "all passed"
