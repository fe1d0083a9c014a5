// Functions that put ctxwrap in front of the agents. They are for agents that are on PATH when the shell starts; an alias of the user's
// stays, and with ctxwrap gone they start the agent itself. `function NAME` because a shell would expand an alias before `NAME()`.
import type { Shell } from './shells.js';

export const initText = (shell: Shell, agents: readonly string[]): string =>
  `${head(shell)}${agents.map(functions[shell]).join('')}`;

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
  (agent: string): string =>
    `if ${pathOf(agent)} >/dev/null 2>&1; then
  function ${agent} {
    if [ -x "$(${pathOf('ctxwrap')} 2>/dev/null)" ]; then command ctxwrap ${agent} "$@"; else command ${agent} "$@"; fi
  }
fi
`; // a path that is remembered from an earlier call may have gone since

const functions: Readonly<Record<Shell, (agent: string) => string>> = {
  bash: bourne((program) => `type -P ${program}`),
  zsh: bourne((program) => `whence -p ${program}`),
  fish: (agent) => `if command -q ${agent}
  function ${agent} --wraps ${agent}
    if command -q ctxwrap
      command ctxwrap ${agent} $argv
    else
      command ${agent} $argv
    end
  end
end
`,
};
