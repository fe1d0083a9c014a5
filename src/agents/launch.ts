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
