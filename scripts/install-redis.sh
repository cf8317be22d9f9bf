#!/bin/sh
# Installs redis-server, which the cache's tests start and stop, by the machine's package manager.
set -eu
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "redis-server is missing: installing it by the package manager" >&2
if command -v apt-get >/dev/null; then
  $sudo apt-get update -qq
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq redis-server >/dev/null
elif command -v apk >/dev/null; then
  $sudo apk add --quiet redis
elif command -v dnf >/dev/null; then
  $sudo dnf install -y -q redis
elif command -v brew >/dev/null; then
  brew install --quiet redis # refuses to run as root
else
  echo "no package manager known here: install redis-server by hand" >&2
  exit 1
fi
