// Terminals with an alternate screen that is cleared on its way in and leaves the main one alone (facts/terminals.md, table).
const WITH_OWN_SCREEN =
  /^(?:xterm|tmux|rxvt|alacritty|foot|st(?:$|-)|konsole|vte|gnome|iterm|wezterm|ghostty|contour|mintty|putty)/i;
const INSIDE_TMUX = /^screen/;

/** GNU screen has one only where its user has turned it on, which it does not tell; the console of Linux has had none for long. */
export const hasOwnScreen = (env: Readonly<Record<string, string | undefined>>): boolean => {
  const term = env['TERM'] ?? '';
  if (env['STY'] !== undefined && env['TMUX'] === undefined) return false;
  return WITH_OWN_SCREEN.test(term) || (INSIDE_TMUX.test(term) && env['TMUX'] !== undefined);
};
