#!/usr/bin/env bash
# Kills the server under load and checks that nothing acknowledged is lost. PARTITA_KILLS=500 for a long run.
set -euo pipefail
cd "$(dirname "$0")/../.."
binary=${PARTITA_BINARY:-target/release/partita}
python=target/blackbox/venv/bin/python
if [ ! -x "$python" ]; then
  python3 -m venv target/blackbox/venv
  "$python" -m pip install --quiet boto3
fi
exec "$python" tests/crash/kill_loop.py "$binary" "${PARTITA_KILLS:-20}"
