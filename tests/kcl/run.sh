#!/usr/bin/env bash
# Workers of the Kinesis Client Library, of its third and its first version, against servers of their own: run.sh BINARY
set -euo pipefail
binary=$(realpath "${1:?usage: run.sh BINARY}")
cd "$(dirname "$0")"
mvn -q -B package
built=$(realpath ../../target/kcl)

run() { # module, class
  AWS_EC2_METADATA_DISABLED=true timeout 300 java -cp "$built/$1/classes:$built/$1/dependency/*" \
    "partita.kcl.$2" "$binary" >"$built/$1.txt" 2>"$built/$1.log" ||
    grep -q '^FAILED' "$built/$1.txt" || echo "FAILED to run, see $built/$1.log" >>"$built/$1.txt"
}

run kcl3 Kcl3 &
run kcl1 Kcl1 &
wait
for module in kcl3 kcl1; do
  echo "$module"
  cat "$built/$module.txt"
done
passed=$(cat "$built"/kcl?.txt | grep -c '^ok') || true
failed=$(cat "$built"/kcl?.txt | grep -c '^FAILED') || true
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
