#!/usr/bin/env bash
# configs/prometheus and configs/grafana against a real worker: the rules' tests; then a Prometheus with that very
# configuration, in which every metric and every query has to have values, and alarms come when things die.
# Needs Go, curl, redis-server and the GNU tools. Where prometheus and promtool are missing, Debian's package is fetched
# and unpacked, not installed: it would start a service. All processes and files are the run's own and go with it.
set -euo pipefail
cd "$(dirname "$0")/.."
dashboard=configs/grafana/dashboards/antipode.json
patience=40 # seconds, for anything that has to come
. scripts/processes.sh

# crash kills a program that was started.
crash() {
  echo "observe-test: $1 is killed"
  kill -KILL "${processes[$1]}"
  wait "${processes[$1]}" 2>/dev/null || true
  unset "processes[$1]"
}

# unpack fetches Debian's prometheus and promtool.
unpack() {
  command -v apt-get >/dev/null || fail "prometheus and promtool are needed in PATH"
  echo "observe-test: prometheus is missing: fetching Debian's" >&2
  fetch() { (cd "$dir" && apt-get -qq -o APT::Sandbox::User=root download prometheus >/dev/null 2>"$log/apt-get"); }
  if ! fetch; then # the lists may be missing, or old
    local sudo=
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get update -qq
    fetch
  fi
  dpkg-deb --extract "$dir"/prometheus_*.deb "$dir/package"
  PATH=$dir/package/usr/bin:$PATH
}

# redis starts a redis-server on a port that happens to be free.
redis() {
  for _ in {1..20}; do
    redis=127.0.0.1:$((20000 + RANDOM % 10000))
    if start redis-server 'Ready to accept connections' \
      redis-server --bind 127.0.0.1 --port "${redis#*:}" --save '' --appendonly no --dir "$dir" 2>/dev/null; then
      return
    fi
  done
  fail "redis-server does not start"
}

# publish sends a text to a subject, as NATS' protocol has it, and waits for a line of the reply.
publish() {
  local subject=$1 text=$2 wanted=$3
  exec 3<>"/dev/tcp/127.0.0.1/${nats##*:}"
  printf 'CONNECT {"verbose":false}\r\nSUB reply 1\r\nPUB %s reply %d\r\n%s\r\n' "$subject" ${#text} "$text" >&3
  timeout 20 grep -q -m 1 "$wanted" <&3 || fail "$subject does not reply $wanted"
  exec 3>&-
}
question() { publish antipode.v1.solve.eight '1 2 3 4 5 6 7 8 0' '"distance":22'; }

query() { promtool query instant "$prometheus" "$1" 2>"$log/query"; }
# await asks until a query has a value, and runs what else is given before it asks again.
await() {
  local expression=$1 deadline=$((SECONDS + patience))
  shift
  until [ -n "$(query "$expression")" ]; do
    [ $SECONDS -lt $deadline ] || fail "no value within $patience s: $expression"
    "$@"
    sleep 0.2
  done
}
alarm() { await "ALERTS{alertname='$1', alertstate='$2'}" "${@:3}"; }

{ command -v prometheus && command -v promtool; } >/dev/null || unpack
promtool check config configs/prometheus/prometheus.yml # and the rules with it
promtool test rules configs/prometheus/alerts_test.yml | grep .

go build -o "$bin/" ./cmd/worker ./cmd/submit github.com/nats-io/nats-server/v2
start nats-server 'Listening for client connections' \
  "$bin/nats-server" --jetstream --store_dir "$dir/store" --addr 127.0.0.1 --port -1
nats=nats://$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/line")
redis
# Every question asks Redis.
start worker '"ready"' env -i HOME="$dir" ANTIPODE_LOG_FORMAT=json ANTIPODE_HTTP_LISTEN=127.0.0.1:0 \
  ANTIPODE_REDIS_ADDR="$redis" ANTIPODE_CACHE_MODE=all ANTIPODE_CACHE_MEMORY=0 "$bin/worker" --nats "$nats"
target=$(grep -o '"address":"[^"]*"' "$log/worker" | cut -d '"' -f 4)

# Of everything something, before anybody looks: answers, a record that is none, a question, and what is no chunk.
"$bin/submit" --nats "$nats" examples/* >/dev/null 2>"$log/submit"
! echo 1 2 3 | "$bin/submit" --nats "$nats" --puzzle swap - >/dev/null 2>"$log/submit" || fail "1 2 3 is a board"
question
publish antipode.v1.jobs.bulk.public.job.number 'no chunk' '"stream":"JOBS"'

# Only where the workers are differs from the product's configuration.
mkdir "$dir/prometheus"
cp configs/prometheus/*.yml "$dir/prometheus"
sed -i -e 's/^    dns_sd_configs:$/    static_configs:/' \
  -e "s/^      - {names: \[worker\], type: A, port: 9090, .*}\$/      - {targets: ['$target']}/" "$dir/prometheus/prometheus.yml"
changed=$(diff configs/prometheus/prometheus.yml "$dir/prometheus/prometheus.yml" | grep -c '^>' || true)
[ "$changed" = 2 ] || fail "$changed lines of prometheus.yml replaced, want 2"
start prometheus '"Listening on"' \
  prometheus --config.file="$dir/prometheus/prometheus.yml" --storage.tsdb.path="$dir/data" --web.listen-address=127.0.0.1:0
prometheus=http://$(grep -o '127\.0\.0\.1:[0-9]*' "$dir/line")

echo "observe-test: a worker is scraped"
await "up{job='antipode'} == 1"
alarm AntipodeDeadLetters firing
await "absent(ALERTS{alertname!='AntipodeDeadLetters'})"

metrics=$(grep -ohE '\b(antipode|process|go)_[a-z_]+' configs/prometheus/alerts.yml <(grep '"expr"' "$dashboard") | sort -u)
for metric in $metrics; do
  await "$metric"
done
queries=0
while IFS= read -r expression; do
  # As Grafana does it at this scrape_interval.
  expression=${expression//'$__rate_interval'/20s}
  await "${expression//'$__range'/30m}"
  queries=$((queries + 1))
done < <(sed -n 's/.*"expr": "\(.*\)"}\(,\|\)$/\1/p' "$dashboard")
expressions=$(grep -c '"expr"' "$dashboard")
[ $queries = "$expressions" ] && [ $queries -gt 0 ] || fail "$queries of $expressions queries of the dashboard were read"

crash redis-server
alarm AntipodeRedisGivenUp pending question

crash worker
alarm AntipodeNoWorker pending
alarm AntipodeWorkerDown pending

rules=$(grep -c -- '- alert:' configs/prometheus/alerts.yml)
healthy=$(curl -fsS --max-time 10 "$prometheus/api/v1/rules" | grep -o '"health":"ok"' | wc -l)
[ "$healthy" = "$rules" ] || fail "$healthy of $rules rules are evaluated without an error"
! grep -iE 'level=(warn|error)' "$log/prometheus" || fail "Prometheus complains"
echo "observe-test: $rules rules, $(wc -w <<<"$metrics") metrics and $queries queries of the dashboard passed"
