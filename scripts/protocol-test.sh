#!/usr/bin/env bash
# Plays the session of docs/protocol.md: each command of its console blocks must print what stands there.
# Needs Go and the GNU tools. The server, the worker and all files are the run's own and go with it.
set -euo pipefail
cd "$(dirname "$0")/.."
document=docs/protocol.md
nats=github.com/nats-io/natscli/nats@v0.5.0 # a tool of the project, so not in go.mod
least=30                                    # commands; fewer mean that they were not found
dir=$(mktemp -d)
bin=$dir/bin log=$dir/log home=$dir/home
mkdir "$bin" "$log" "$home"

processes=()
finish() {
  status=$?
  set +e # tear down whatever happens,
  trap '' PIPE # though nobody reads this
  if [ $status != 0 ]; then
    tail -n 5 "$log"/*
    echo "protocol-test: FAILED"
  fi >&2
  [ ${#processes[@]} = 0 ] || { kill -KILL "${processes[@]}"; wait; } 2>/dev/null
  rm -rf "$dir"
  exit $status
}
trap finish EXIT
trap 'exit 143' HUP TERM # once what runs in the foreground has ended, so that it leaves no files

# start runs a program in the background until it logs a line with a pattern, which goes to $dir/line.
start() {
  local name=$1 pattern=$2
  shift 2
  : >"$log/$name" # before tail looks for it
  "$@" </dev/null >>"$log/$name" 2>&1 &
  processes+=($!)
  # tail ends with the program, so that one which cannot start is heard of at once.
  timeout 60 grep -m 1 "$pattern" <(exec tail -n +1 -f --pid=$! "$log/$name") >"$dir/line" || {
    echo "protocol-test: $name does not start" >&2
    return 1
  }
}

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
