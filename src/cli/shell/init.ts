import { allAgents } from '../../agents/index.js';
import { type Printable, toPrintableText } from '../../core/printable.js';
import type { Options, Shell } from '../request.js';

/**
 * Reserved words and builtins of bash, zsh and fish: a function of such a name would break scripts and the functions themselves (bash(1)
 * RESERVED WORDS and SHELL BUILTIN COMMANDS, zshbuiltins(1), fish's `builtin --names`).
 */
export const shellWords: ReadonlySet<string> = new Set(
  `alias and argparse autoload begin bg bind break breakpoint builtin bye caller case cd chdir command compgen complete compopt continue
  coproc count declare dirs disable disown do done echo echotc echoti elif else emacs emulate enable end esac eval exec exit export false
  fc fg fi for foreach function functions getln getopts hash help history if in integer jobs kill let limit local logout mapfile math
  nocorrect noglob not or path popd print printf pushd pushln pwd random read readarray readonly realpath rehash repeat return sched select
  set setopt shift shopt source stat status string suspend switch test then time times trap true ttyctl type typeset ulimit umask unalias
  unfunction unhash unlimit unset unsetopt until vared wait whence where which while zle zmodload zparseopts zstyle`.split(
    /\s+/,
  ),
);

// Shell functions that start the agents through ctxwrap. They are for agents on PATH when the shell starts; the user's aliases win, and
// when ctxwrap is removed the functions start the agent directly. `function NAME` because a shell would expand an alias before `NAME()`.

/** A word that starts an agent, and the program behind it. */
export interface AgentWord {
  readonly word: string;
  readonly program: string;
}

export const initText = (shell: Shell, agents: readonly AgentWord[]): string =>
  `${head(shell)}${agents.filter(isPlain).map(functions[shell]).join('')}`;

/** A name that needs no quoting in a shell; names may come from a configuration. */
const isPlain = ({ word, program }: AgentWord): boolean =>
  [word, program].every((each) => /^[A-Za-z0-9_][\w.+-]*$/.test(each)) && !shellWords.has(word);

/** The command that loads this text, and the startup file that it belongs in. */
export interface StartupLine {
  readonly command: string;
  readonly file: string;
}

export const startupLines: Readonly<Record<Shell, StartupLine>> = {
  bash: {
    command: 'command -v ctxwrap >/dev/null && eval "$(ctxwrap init bash)"',
    file: '~/.bashrc',
  },
  zsh: {
    command: 'command -v ctxwrap >/dev/null && eval "$(ctxwrap init zsh)"',
    file: '~/.zshrc',
  },
  fish: {
    command: 'command -q ctxwrap; and ctxwrap init fish | source',
    file: '~/.config/fish/config.fish',
  },
};

/** Holds the pid of the shell that has loaded the text, so that `ctxwrap doctor` can tell it from a shell inside it. */
export const SHELL_VARIABLE = 'CTXWRAP_SHELL';

const marks: Readonly<Record<Shell, string>> = {
  bash: `export ${SHELL_VARIABLE}=$$`,
  zsh: `export ${SHELL_VARIABLE}=$$`,
  fish: `set -gx ${SHELL_VARIABLE} $fish_pid`,
};

const head = (
  shell: Shell,
): string => `# Starts the agents through ctxwrap; \`command NAME\` starts one without.
# ${startupLines[shell].command}   # in ${startupLines[shell].file}
${marks[shell]}
`;

const bourne =
  (pathOf: (program: string) => string) =>
  ({ word, program }: AgentWord): string =>
    `if ${pathOf(program)} >/dev/null 2>&1; then
  function ${word} {
    if [ -x "$(${pathOf('ctxwrap')} 2>/dev/null)" ]; then command ctxwrap ${word} "$@"; else command ${program} "$@"; fi
  }
fi
`; // a path that is remembered from an earlier call may have gone since

const functions: Readonly<Record<Shell, (agent: AgentWord) => string>> = {
  bash: bourne((program) => `type -P ${program}`),
  zsh: bourne((program) => `whence -p ${program}`),
  fish: ({ word, program }) => `if command -q ${program}
  function ${word} --wraps ${program}
    if command -q ctxwrap
      command ctxwrap ${word} $argv
    else
      command ${program} $argv
    end
  end
end
`,
};

/** `ctxwrap init`: functions for all known agents, installed or not; the shell tests that when it reads them. */
export const init = (shell: Shell, options: Options): Printable => {
  const agents = allAgents(options.configured?.runtimes).flatMap(({ name, command }) =>
    command === undefined ? [] : [{ word: name, program: command }],
  );
  return toPrintableText(initText(shell, agents));
};
