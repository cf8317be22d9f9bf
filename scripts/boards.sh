#!/bin/sh
# boards.sh N: a job that lasts, of N questions of rotegame with values that repeat, which take a search each, about
# a tenth of a millisecond. The same N, the same questions.
[ $# = 1 ] && [ "$1" -gt 0 ] 2>/dev/null || {
  echo "usage: scripts/boards.sh N >rotegame-boards.txt" >&2
  exit 2
}
exec awk -v n="$1" '
  function board(   i, j, t) {
    for (i = 1; i <= 12; i++) v[i] = int((i + 1) / 2)
    for (i = 12; i > 1; i--) { j = 1 + int(rand() * i); t = v[i]; v[i] = v[j]; v[j] = t }
    for (i = 1; i <= 12; i++) printf "%d ", v[i]
  }
  BEGIN { srand(7); while (n-- > 0) { board(); board(); print "" } }'
