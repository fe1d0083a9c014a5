#!/bin/sh
# Runs the built ctxwrap in real terminals and prints a table, terminal by check. Not part of `npm test`.
#   test/terminals/run.sh [-v] [xterm|kitty|alacritty|foot|tmux|screen ...]
# -v shows what was seen, also where all is well. CTXWRAP=<file> takes another ctxwrap.js.
# PATIENCE=4 waits four times as long, for a busy machine.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export CTXWRAP="${CTXWRAP:-$here/../../bin/ctxwrap.js}"

missing=
for need in Xvfb:xvfb xterm:xterm kitty:kitty alacritty:alacritty foot:foot sway:sway wtype:wtype tmux:tmux \
  screen:screen xdotool:xdotool xclip:xclip import:imagemagick less:less stty:coreutils setpriv:util-linux; do
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
exec 3<>"$work/display" # open for both, so that nobody waits for the other end
Xvfb -displayfd 3 -screen 0 1600x1200x24 -nolisten tcp >/dev/null 2>&1 &
server=$!
trap 'kill $server $sway; rm -rf "$SWAY_RUNTIME"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Wayland without a display, for foot. sway does not start as root.
sway=
SWAY_RUNTIME=$(mktemp -d /tmp/ctxwrap-sway.XXXXXX)
export SWAY_RUNTIME
printf '%s\n' 'xwayland disable' 'default_floating_border none' 'for_window [app_id=".*"] floating enable' \
  'output * resolution 1600x1200' >"$SWAY_RUNTIME/config"
as=
if [ "$(id -u)" = 0 ]; then
  chown -R 65534:65534 "$SWAY_RUNTIME"
  as='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
XDG_RUNTIME_DIR="$SWAY_RUNTIME" WLR_BACKENDS=headless WLR_RENDERER=pixman WLR_LIBINPUT_NO_DEVICES=1 \
  $as sway -c "$SWAY_RUNTIME/config" >/dev/null 2>&1 &
sway=$!
tries=0
until ls "$SWAY_RUNTIME"/sway-ipc.* >/dev/null 2>&1 && ls "$SWAY_RUNTIME"/wayland-? >/dev/null 2>&1; do
  tries=$((tries + 1))
  [ $tries -lt 100 ] || { echo 'sway does not start' >&2; exit 2; }
  sleep 0.1
done

read -r number <&3
export DISPLAY=":$number"

node "$here/main.js" "$@"
