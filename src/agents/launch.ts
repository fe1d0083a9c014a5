// Which arguments make an agent print and exit: data per agent, one function for all.

export interface LaunchRules {
  /** flags with which the agent prints and exits */
  readonly plainFlags: readonly string[];
  /** subcommands that do not open a conversation */
  readonly plainCommands: readonly string[];
  /** flags whose value is the next word, so that it is not mistaken for a subcommand */
  readonly valueFlags: readonly string[];
  /** for agents that answer a bare prompt and exit: the flags with which they stay open */
  readonly promptFlags?: readonly string[];
}

/** What the arguments of an agent mean when it is started again with another session. */
export interface RestartRules {
  /** flags that choose or name a session, or begin it with a prompt; they are dropped with their values */
  readonly sessionFlags: readonly string[];
  /** flags that take all words up to the next flag as their values */
  readonly listFlags?: readonly string[];
  /** flags that have the agent work in another folder or machine, where it would not find the session */
  readonly elsewhereFlags: readonly string[];
}

/** A list written as text, because these lists are long. */
export const splitWords = (text: string): readonly string[] => text.trim().split(/\s+/);

/** True when the arguments open a conversation in the terminal. A prompt that merely contains a flag's name stays a prompt. */
export const startsConversation = (rules: LaunchRules, args: readonly string[]): boolean => {
  const end = args.indexOf('--');
  const given = end < 0 ? args : args.slice(0, end);
  let commandSeen = false;
  let stays = rules.promptFlags === undefined;
  for (let i = 0; i < given.length; i++) {
    const word = given[i] ?? '';
    if (!isFlag(word)) {
      if (!commandSeen && rules.plainCommands.includes(word)) return false;
      commandSeen = true;
      continue;
    }
    const names = flagNames(rules, word);
    if (names.some((name) => rules.plainFlags.includes(name))) return false;
    stays ||= names.some((name) => rules.promptFlags?.includes(name));
    if (rules.valueFlags.includes(word) && !isFlag(given[i + 1] ?? '')) i++;
  }
  return stays || (!commandSeen && end < 0);
};

/**
 * The options that still make sense when the agent is started again with another session: no prompt, no subcommand, and nothing that
 * chooses a session. Undefined if it cannot be started again with these arguments.
 */
export const optionsForRestart = (
  rules: LaunchRules & RestartRules,
  args: readonly string[],
): readonly string[] | undefined => {
  const { sessionFlags, elsewhereFlags } = rules;
  const end = args.indexOf('--');
  const given = end < 0 ? args : args.slice(0, end);
  const kept: string[] = [];
  for (let i = 0; i < given.length; i++) {
    const word = given[i] ?? '';
    if (!isFlag(word)) continue;
    const names = flagNames(rules, word);
    const isSession = names.some((name) => sessionFlags.includes(name));
    if (names.some((name) => elsewhereFlags.includes(name)) || (isSession && names.length > 1))
      return undefined;
    const values = valuesBehind(rules, word, given.slice(i + 1));
    if (!isSession) kept.push(word, ...values);
    i += values.length;
  }
  return kept;
};

const valuesBehind = (
  { valueFlags, listFlags = [] }: LaunchRules & RestartRules,
  word: string,
  rest: readonly string[],
): readonly string[] => {
  const next = rest.findIndex(isFlag);
  const most = listFlags.includes(word) ? Infinity : valueFlags.includes(word) ? 1 : 0;
  return rest.slice(0, Math.min(most, next < 0 ? rest.length : next));
};

const isFlag = (word: string): boolean => word.length > 1 && word.startsWith('-');

// `--print=x` is --print; `-cp` is -c and -p, unless -c takes the rest as its value.
const flagNames = (rules: LaunchRules, word: string): readonly string[] => {
  if (word.startsWith('--')) return [word.split('=', 1)[0] ?? word];
  const letters = /^-[A-Za-z]+/.exec(word)?.[0].slice(1) ?? '';
  const names: string[] = [];
  for (const letter of letters) {
    names.push(`-${letter}`);
    if (rules.valueFlags.includes(`-${letter}`)) break;
  }
  return names;
};

/** What an agent's launch says by its rules; `exitCommand` ends the agent so that it can be started again. */
export const launchedBy = (launchRules: LaunchRules, restartRules: RestartRules, exitCommand: string) => ({
  isInteractive: (args: readonly string[]) => startsConversation(launchRules, args),
  restarting: {
    exitCommand,
    options: (args: readonly string[]) => optionsForRestart({ ...launchRules, ...restartRules }, args),
  },
});
