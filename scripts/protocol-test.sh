#!/usr/bin/env bash
# Plays the session of docs/protocol.md: each command of its console blocks must print what stands there.
# Needs Go and the GNU tools. The server, the worker and all files are the run's own and go with it.
set -euo pipefail
cd "$(dirname "$0")/.."
document=docs/protocol.md
nats=github.com/nats-io/natscli/nats@v0.5.0 # a tool of the project, so not in go.mod
least=30                                    # commands; fewer mean that they were not found
. scripts/processes.sh
home=$dir/home
mkdir "$home"

played=0
# play runs the command that was read, which starts on line $at, and compares its standard output.
play() {
  [ -n "$command" ] || return 0
  local status=0
  (cd "$home" && env -i PATH="$bin:$PATH" HOME="$home" NATS_URL="$url" NATS_TIMEOUT=30s \
    timeout 60 bash -c "$command") </dev/null >"$dir/actual" 2>"$log/the-command" || status=$?
  if ! diff -u --label "$document, below line $at" --label "what the command printed" "$dir/expected" "$dir/actual" ||
    [ $status != 0 ]; then
    printf '%s:%d: exit status %d of\n%s\n' "$document" "$at" "$status" "$command"
    return 1
  fi
  played=$((played + 1))
  command=
} >&2

GOBIN=$bin go install "$nats"
go build -o "$bin/" ./cmd/worker github.com/nats-io/nats-server/v2

start nats-server 'Listening for client connections' \
  "$bin/nats-server" --jetstream --store_dir "$dir/store" --addr 127.0.0.1 --port -1
url=nats://$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/line")
start worker '"ready"' env -i HOME="$home" ANTIPODE_LOG_FORMAT=json "$bin/worker" --nats "$url"

number=0 at=0 inside=false command=
while IFS= read -r line; do
  number=$((number + 1))
  case $inside:$line in
    'false:```console') inside=true ;;
    'true:```')
      play
      inside=false
      ;;
    'true:$ '*)
      play
      command=${line#'$ '} at=$number
      : >"$dir/expected"
      ;;
    'true:> '*) command+=$'\n'${line#'> '} ;;
    true:*) printf '%s\n' "$line" >>"$dir/expected" ;;
  esac
done <"$document"

if [ $played -lt $least ]; then
  echo "protocol-test: $played commands found in $document, want $least or more" >&2
  exit 1
fi
echo "protocol-test: $played commands passed"
