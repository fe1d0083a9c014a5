import type { Argument, Command, Option } from 'commander';
import { isKeyName } from '../../core/config/keys.js';
import { optionChoices, valueChoices } from '../options.js';
import type { Shell } from '../request.js';

// Words that can complete a command line, taken from the command line's own definition.

export interface Candidate {
  readonly word: string;
  readonly description: string;
}

/** `sessions` comes from the caller, which can list them. */
export interface Candidates {
  readonly words: readonly Candidate[];
  readonly sessions: boolean;
}

const none: Candidates = { words: [], sessions: false };

/** `words` are those after `ctxwrap`; the last one is being typed and may be empty. With no candidates the shell offers files. */
export const candidatesFor = (
  program: Command,
  words: readonly string[],
  agents: readonly string[],
): Candidates => {
  const last = words.at(-1) ?? '';
  const typed = last === '=' ? '' : last; // bash: nothing typed yet after --mode=
  const place = placeOf(program, words.slice(0, -1), agents);
  if (!place) return none;
  const { command, option, argument, before } = place;
  const starts = ({ word }: Candidate): boolean => word.startsWith(typed);
  const [flag = ''] = typed.split('=', 1);
  const joined = typed.includes('=') ? valueOption(command, flag) : undefined; // other shells pass --mode=a as one word
  if (joined)
    return {
      words: valuesOf(joined, agents)
        .map((value) => bare(`${flag}=${value}`))
        .filter(starts),
      sessions: false,
    };
  if (option) return { words: valuesOf(option, agents).map(bare).filter(starts), sessions: false };
  if (typed.startsWith('-')) return { words: optionsOf(command).filter(starts), sessions: false };
  const own = command === program ? agents.map(agentWord) : choicesOf(argument, before);
  return {
    words: [...own, ...commandsOf(command)].filter(starts),
    sessions: argument?.name() === 'session',
  };
};

const valuesOf = ({ long, argChoices }: Option, agents: readonly string[]): readonly string[] => {
  const choices = optionChoices[long ?? ''] ?? argChoices ?? [];
  return long === '--runtime' ? [...new Set([...choices, ...agents])] : choices;
};

interface Place {
  readonly command: Command;
  /** the option whose value is being typed */
  readonly option?: Option | undefined;
  readonly argument?: Argument | undefined;
  /** the argument before it */
  readonly before: string;
}

/** The command or option that the words lead to; undefined after an agent's name, where all words belong to the agent. */
const placeOf = (
  program: Command,
  words: readonly string[],
  agents: readonly string[],
): Place | undefined => {
  let command = program;
  let option: Option | undefined;
  const operands: string[] = [];
  for (const word of words) {
    if (word === '=') continue; // bash splits --mode=auto into three words
    if (option) option = undefined;
    else if (word === '--') return undefined;
    else if (word.startsWith('-')) option = valueOption(command, word);
    else if (command === program && agents.includes(word)) return undefined;
    else {
      const inner = command.commands.find((each) => each.name() === word);
      if (inner) command = inner;
      else operands.push(word);
    }
  }
  const argument = command.registeredArguments[operands.length];
  return { command, option, argument, before: operands.at(-1) ?? '' };
};

const valueOption = (command: Command, flag: string): Option | undefined =>
  flag.includes('=')
    ? undefined
    : command.options.find((option) => option.required && (option.long === flag || option.short === flag));

/** `before` is the key, where the argument is its value. */
const choicesOf = (of: Argument | undefined, before: string): readonly Candidate[] =>
  (of?.name() === 'value' && isKeyName(before) ? valueChoices(before) : (of?.argChoices ?? [])).map(bare);

const bare = (word: string): Candidate => ({ word, description: '' });

const optionsOf = (command: Command): readonly Candidate[] =>
  [...command.options, ...helpOf(command)]
    .filter(({ hidden }) => !hidden)
    .flatMap(({ long, description }) => (long ? [{ word: long, description }] : []));

const helpOf = (command: Command): readonly Option[] =>
  command.createHelp().visibleOptions(command).slice(-1);

const commandsOf = (command: Command): readonly Candidate[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((inner) => ({ word: inner.name(), description: inner.description() }));

const agentWord = (word: string): Candidate => ({ word, description: 'an agent' });

// Shell scripts that ask ctxwrap for completions. All knowledge of the command line stays here: a script calls `ctxwrap complete` with the
// words so far, each after a `=` so that none looks like an option, and gets lines of `WORD<Tab>DESCRIPTION`.

export const completionText = (shell: Shell): string => scripts[shell];

const bash = `_ctxwrap() {
  local line words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(command ctxwrap complete "\${words[@]/#/=}" 2>/dev/null)
}
complete -o default -F _ctxwrap ctxwrap
`;

const zsh = `#compdef ctxwrap
_ctxwrap() {
  local line about
  local -a found words_so_far
  words_so_far=("\${(@)words[2,CURRENT]}")
  for line in "\${(@f)$(command ctxwrap complete "\${(@)words_so_far/#/=}" 2>/dev/null)}"; do
    about=\${line#*$'\\t'}
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}\${about:+:$about}")
  done
  if (( $#found )); then _describe ctxwrap found; else _files; fi
}
(( $+functions[compdef] )) && compdef _ctxwrap ctxwrap || true
`;

const fish = `function __ctxwrap_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found (command ctxwrap complete '='$words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c ctxwrap -e
complete -c ctxwrap -f -a '(__ctxwrap_complete)'
`;

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish };
