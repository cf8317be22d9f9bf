#!/usr/bin/env bash
# docker-compose.yml as a user meets it: build, start, ask, add a worker, lose one; the answers stay the same.
# Its project and port are its own, so that it disturbs no Antipode that runs here; only the image stays behind.
set -euo pipefail
cd "$(dirname "$0")/.."
export COMPOSE_PROJECT_NAME=antipode-test
export ANTIPODE_PORT=0 # any free one
answer=$(mktemp)

down() { docker compose down --volumes --remove-orphans --timeout 5; }
finish() {
  status=$?
  set +e # tear down whatever happens
  if [ $status != 0 ]; then
    docker compose ps --all
    docker compose logs --no-color --tail 200
    echo "compose-test: FAILED" >&2
  fi
  down
  rm -f "$answer" "$answer.job"
  exit $status
}
up() { docker compose up --detach --wait --wait-timeout 120 "$@"; }
submit() { timeout 60 docker compose run --rm -T submit "$@" >"$answer"; }

check() {
  echo "compose-test: $1"
  printf '%s\n' '9 9 9 9' '1 2 3 4' '5 6 7 8' '1 9 9 4' '5 9 9 8' '6 2 7 3' | submit --puzzle rotegame -
  printf '2\n1 2\n' | diff - "$answer"
  for file in examples/*.txt examples/*.jsonl; do
    name=$(basename "${file%.*}")
    puzzle=(--puzzle "${name%%-*}")
    [[ $file != *.jsonl ]] || puzzle=() # its records name their puzzles
    submit "${puzzle[@]}" "$file" </dev/null
    diff "testdata/examples/$name.out" "$answer"
  done
}

# The workers' image holds no definitions: this one comes to them through NATS.
check_given() {
  echo "compose-test: a puzzle of one's own"
  submit puzzles --example configs/puzzles/topspin10.yaml </dev/null
  cp "$answer" "$answer.job"
  submit --puzzle configs/puzzles/topspin10.yaml - <"$answer.job"
  printf '1\nL\n4\nR T R T\n4\nT R R T\n' | diff - "$answer"
}

trap finish EXIT
down # what a run that was killed may have left
timeout 900 docker compose build
up
check "one worker"
up --scale worker=2
check "two workers"
check_given
docker kill "$COMPOSE_PROJECT_NAME-worker-1"
check "one of two workers killed"
echo "compose-test: passed"
