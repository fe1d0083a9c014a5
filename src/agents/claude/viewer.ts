// Launches of Claude Code that only show sessions in the background (background.ts).

/** The arguments that show a background session, or the list of them. */
const COMMANDS = ['attach', 'agents'];

/** `claude attach ID` and `claude agents`: the child runs no session of its own. */
export const isViewerOnly = (args: readonly string[]): boolean => commandIn(args) !== undefined;

/** Why a launch that only shows sessions is left alone. */
export const VIEWER = 'it shows sessions that other processes run';

/** The command that shows them and what follows it; undefined where there is none. */
export const commandIn = (args: readonly string[]): readonly string[] | undefined => {
  const at = args.findIndex((word) => COMMANDS.includes(word));
  if (at < 0 || TAKES_VALUE.test(args[at - 1] ?? '')) return undefined;
  const areOptions = args.slice(0, at).every((word, index) => isOption(word, args[index - 1]));
  return areOptions ? args.slice(at) : undefined;
};

/** Options whose value can be any word. */
const TAKES_VALUE = /^(?:-r|-n|--(?:resume|name|agent|model|settings|(?:append-)?system-prompt))$/;

const isOption = (word: string, before: string | undefined): boolean =>
  word.startsWith('-') || before?.startsWith('-') === true;
