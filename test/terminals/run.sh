#!/bin/sh
# Runs the built ctxwrap in real terminals and prints a table, terminal by check. Not part of `npm test`.
#   test/terminals/run.sh [-v] [xterm|kitty|alacritty|tmux|screen ...]
# -v shows what was seen, also where all is well. CTXWRAP=<file> takes another ctxwrap.js.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export CTXWRAP="${CTXWRAP:-$here/../../bin/ctxwrap.js}"

missing=
for need in Xvfb:xvfb xterm:xterm kitty:kitty alacritty:alacritty tmux:tmux screen:screen xdotool:xdotool \
  xclip:xclip import:imagemagick less:less stty:coreutils; do
  command -v "${need%%:*}" >/dev/null 2>&1 || missing="$missing ${need##*:}"
done
if [ -n "$missing" ]; then
  echo "needs the Debian packages$missing: apt-get install --no-install-recommends$missing" >&2
  exit 2
fi
[ -e "$(dirname "$CTXWRAP")/../dist/launcher.cjs" ] || { echo 'not built yet: npm run build' >&2; exit 2; }

work=$(mktemp -d /tmp/ctxwrap-terminals.XXXXXX)
export WORK="$work" LANG=C.UTF-8 LC_ALL=C.UTF-8 LIBGL_ALWAYS_SOFTWARE=1
unset TMUX STY TERM TERM_PROGRAM NO_COLOR
mkfifo "$work/display"
Xvfb -displayfd 3 -screen 0 1600x1200x24 -nolisten tcp 3<>"$work/display" >/dev/null 2>&1 &
server=$!
trap 'kill $server; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
read -r number <"$work/display"
export DISPLAY=":$number"

node "$here/main.js" "$@"
