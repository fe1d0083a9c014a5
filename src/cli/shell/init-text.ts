// Functions that put ctxwrap in front of the agents. They are for agents that are on PATH when the shell starts; an alias of the user's
// stays, and with ctxwrap gone they start the agent itself. `function NAME` because a shell would expand an alias before `NAME()`.
import type { Shell } from './shells.js';
import { shellWords } from './shell-words.js';

/** A word that starts an agent, and the program that it is. */
export interface AgentWord {
  readonly word: string;
  readonly program: string;
}

export const initText = (shell: Shell, agents: readonly AgentWord[]): string =>
  `${head(shell)}${agents.filter(isPlain).map(functions[shell]).join('')}`;

/** What a shell takes as it stands, and has no meaning for: names come from a configuration, too. */
const isPlain = ({ word, program }: AgentWord): boolean =>
  [word, program].every((each) => /^[A-Za-z0-9_][\w.+-]*$/.test(each)) && !shellWords.has(word);

const lines: Readonly<Record<Shell, string>> = {
  bash: 'command -v ctxwrap >/dev/null && eval "$(ctxwrap init bash)"   # in ~/.bashrc',
  zsh: 'command -v ctxwrap >/dev/null && eval "$(ctxwrap init zsh)"   # in ~/.zshrc',
  fish: 'command -q ctxwrap; and ctxwrap init fish | source   # in ~/.config/fish/config.fish',
};

const head = (
  shell: Shell,
): string => `# Starts the agents through ctxwrap; \`command NAME\` starts one without.
# ${lines[shell]}
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
