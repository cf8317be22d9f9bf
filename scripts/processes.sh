# What scripts that start programs have in common; sourced by them, in the module's root. It makes $dir with $bin and
# $log, and ends: all programs and files go with the script, which says so where it fails.
script=$(basename "$0" .sh)
dir=$(mktemp -d)
bin=$dir/bin log=$dir/log
mkdir "$bin" "$log"

declare -A processes
finish() {
  status=$?
  set +e # tear down whatever happens,
  trap '' PIPE # though nobody reads this
  if [ $status != 0 ]; then
    tail -n 5 "$log"/*
    echo "$script: FAILED"
  fi >&2
  [ ${#processes[@]} = 0 ] || { kill -KILL "${processes[@]}"; wait; } 2>/dev/null
  rm -rf "$dir"
  exit $status
}
trap finish EXIT
trap 'exit 143' HUP TERM # once what runs in the foreground has ended, so that it leaves no files

fail() {
  echo "$script: $*" >&2
  return 1
}

# start PROGRAM PATTERN COMMAND…: in the background, until it logs a line with the pattern, which goes to $dir/line.
start() {
  local program=$1 pattern=$2
  shift 2
  : >"$log/$program" # before tail looks for it
  "$@" </dev/null >>"$log/$program" 2>&1 &
  processes[$program]=$!
  # tail ends with the program, so that one which cannot start is heard of at once.
  timeout 60 grep -m 1 "$pattern" <(exec tail -n +1 -f --pid=$! "$log/$program") >"$dir/line" || fail "$program does not start"
}
