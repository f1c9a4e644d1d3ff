#!/usr/bin/env bash
# Sends the same random requests to Partita and to DynamoDB Local: run.sh [--requests N] [--seed S]
# The binary is PARTITA_BINARY or the release build.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$root/target/differential
binary=${PARTITA_BINARY:-$root/target/release/partita}
mkdir -p "$work"

if ! ls "$work"/lib/DynamoDBLocal-*.jar >/dev/null 2>&1; then
  mvn -q -B -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$work/lib"
fi

scratch=$(mktemp -d)
servers=()
stop() {
  [ ${#servers[@]} -eq 0 ] || kill "${servers[@]}" 2>/dev/null || true
  wait 2>/dev/null || true
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# The SQLite library is among the jars.
java -Djava.library.path="$work/lib" -cp "$work/lib/*" \
  software.amazon.dynamodb.services.local.main.ServerRunner -inMemory -port "$port" >"$work/local.log" 2>&1 &
servers+=($!)
"$binary" serve --port 0 --data "$scratch/data" --durability relaxed >"$work/partita.log" 2>&1 &
servers+=($!)

endpoint=
for _ in $(seq 300); do
  endpoint=$(grep -om1 'http://127\.0\.0\.1:[0-9]*' "$work/partita.log" || true)
  [ -n "$endpoint" ] && (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  sleep 0.2
done
cd "$here"
PYTHONDONTWRITEBYTECODE=1 python3 compare.py "$endpoint" "http://127.0.0.1:$port" "$@"
