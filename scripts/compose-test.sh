#!/usr/bin/env bash
# docker-compose.yml as a user meets it: build, start, ask, add workers, lose some, lose Redis and NATS; the answers stay
# the same. Its project and ports are its own, so that it disturbs no Antipode that runs here; only the image stays behind.
set -euo pipefail
cd "$(dirname "$0")/.."
export COMPOSE_PROJECT_NAME=antipode-test
export COMPOSE_DISABLE_ENV_FILE=1 # what is tested is what comes with the clone
export ANTIPODE_PORT=0            # any free one
tmp=$(mktemp -d)

down() { docker compose --profile '*' down --volumes --remove-orphans --timeout 10; }
finish() {
  status=$?
  set +e # tear down whatever happens
  if [ $status != 0 ]; then
    docker compose ps --all
    docker compose logs --no-color --tail 200
    cat "$tmp/said" 2>/dev/null
    echo "compose-test: FAILED" >&2
  fi
  exec 3>&- # the job's input
  down
  wait
  rm -rf "$tmp"
  exit $status
}
say() { echo "compose-test: $*"; }
fail() {
  echo "compose-test: $*" >&2
  exit 1
}
up() { docker compose up --detach --wait --wait-timeout 120 "$@"; }
submit() { timeout 60 docker compose run --rm -T submit "$@"; }
healthy() { docker compose exec -T worker /worker healthy; }
until_true() { # within a minute
  for _ in $(seq 120); do
    if "$@" >/dev/null 2>&1; then return; fi
    sleep 0.5
  done
  fail "not so after a minute: $*"
}

samples() {
  say "the samples of all puzzles, $1"
  for file in examples/*.txt examples/*.jsonl; do
    submit "$file" </dev/null >"$tmp/answer"
    diff "testdata/examples/$(basename "${file%.*}").out" "$tmp/answer"
  done
}

# The workers' image holds no such definition: it comes to them through NATS.
given() {
  say "a puzzle of one's own"
  submit puzzles --example configs/puzzles/topspin10.yaml </dev/null >"$tmp/boards"
  submit --puzzle configs/puzzles/topspin10.yaml - <"$tmp/boards" >"$tmp/answer"
  printf '1\nL\n4\nR T R T\n4\nT R R T\n' | diff - "$tmp/answer"
}

# A submit on the host, and one that writes a file in a folder elsewhere.
ways() {
  say "from the host, and into a file"
  docker run --rm -i --network host --entrypoint /submit antipode --nats "nats://$(docker compose port nats 4222)" --puzzle rotegame - \
    <examples/rotegame-sample.txt >"$tmp/answer"
  diff testdata/examples/rotegame-sample.out "$tmp/answer"
  mkdir "$tmp/out"
  cp examples/rotegame-sample.txt "$tmp"
  local file=$PWD/docker-compose.yml
  (cd "$tmp" && timeout 60 docker compose --file "$file" run --rm -T --user "$(id -u):$(id -g)" submit --out out/answers.txt rotegame-sample.txt </dev/null)
  diff testdata/examples/rotegame-sample.out "$tmp/out/answers.txt"
}

# No container may more than it needs, and only NATS can be reached, from this machine.
rights() {
  say "rights of the containers"
  for id in $(docker compose ps --quiet); do
    docker inspect --format '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}} {{.HostConfig.SecurityOpt}} {{gt .HostConfig.Memory 0}}' "$id"
  done | sort -u >"$tmp/answer"
  echo 'true [ALL] [no-new-privileges:true] true' | diff - "$tmp/answer"
  docker inspect --format '{{.Config.User}}' "$(docker compose ps --quiet worker | head -1)" | diff <(echo 65534:65534) -
  docker compose ps --quiet | xargs docker inspect --format \
    '{{range $port, $to := .NetworkSettings.Ports}}{{range $to}}{{$port}} {{.HostIp}}{{"\n"}}{{end}}{{end}}' | grep . | diff <(echo '4222/tcp 127.0.0.1') -
}

tables() {
  say "a table, which a running worker picks up"
  docker compose run --rm -T tables build rotegame </dev/null
  docker compose run --rm -T tables verify rotegame </dev/null
  echo '9 1 2 3 10 4 5 6 7 8 11 12  1 2 3 4 5 6 7 8 9 10 11 12' | submit --explain --puzzle rotegame - >"$tmp/answer"
  grep -q 'method=table' "$tmp/answer" || fail "the table is not used: $(cat "$tmp/answer")"
}

# begin N: a job of N searches, which come from feed, so that it lasts for as long as it is wanted.
begin() {
  rm -f "$tmp/in"
  scripts/boards.sh "$1" >"$tmp/job"
  mkfifo "$tmp/in"
  timeout 900 docker compose run --rm -T submit --puzzle rotegame - <"$tmp/in" >"$tmp/answers" 2>"$tmp/said" &
  job=$!
  exec 3>"$tmp/in"
  fed=0
}
# feed N: the next records. What submit has not published when this ends is the smaller part; workers are at it.
feed() {
  sed -n "$((fed + 1)),$((fed + $1))p" "$tmp/job" >&3
  fed=$((fed + $1))
  kill -0 "$job" || fail "submit ended early"
}
# end: feeds the rest; the answers are those of a submit that no fault met.
end() {
  sed -n "$((fed + 1)),\$p" "$tmp/job" >&3
  exec 3>&-
  wait "$job" || fail "submit ended with exit status $?"
  cat "$tmp/said"
  docker run --rm -i --network none --entrypoint /submit antipode --puzzle rotegame - <"$tmp/job" >"$tmp/undisturbed"
  cmp "$tmp/undisturbed" "$tmp/answers"
}

faults() {
  say "a job, while workers come and go, and Redis and NATS are lost"
  begin 220000
  feed 60000
  up --scale worker=4
  feed 40000
  docker kill "$COMPOSE_PROJECT_NAME-worker-1"
  feed 40000
  docker compose stop redis
  feed 40000
  docker compose stop nats
  if healthy 2>"$tmp/reason"; then fail "the worker says that it is ready without NATS"; fi
  grep 'not ready: NATS is away' "$tmp/reason"
  docker compose start nats redis
  until_true healthy
  up --scale worker=2
  end
}

cluster() {
  say "three NATS servers, each of which is lost once"
  down
  set -a
  . configs/cluster.env
  ANTIPODE_PORT_2=0 ANTIPODE_PORT_3=0
  set +a
  up --scale worker=2
  samples "through a cluster"
  begin 160000
  feed 60000
  for server in nats-3 nats nats-2; do
    docker kill "$COMPOSE_PROJECT_NAME-$server-1"
    feed 30000
    up "$server"
  done
  end
}

trap finish EXIT
trap 'exit 130' INT TERM
docker compose --env-file .env.example config --quiet
down # what a run that was killed may have left
timeout 900 docker compose build
up
samples "one worker"
rights
given
ways
tables
faults
samples "after all that"
cluster
say passed
