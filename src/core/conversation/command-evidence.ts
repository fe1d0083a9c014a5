import type { Result, ToolUse } from './conversation.js';

// Which of the commands that ran are worth keeping: what is known of the program after them, and what they did outside of it. Searching and
// reading files is most of what agents do, and nobody misses it.

export type CommandKind = 'test' | 'build' | 'check' | 'migration' | 'deploy';

export interface RunCommand {
  /** as it ran, without the folder it ran in, its pipes and its redirections */
  readonly text: string;
  /** line of the session file, from 0 */
  readonly line: number;
  /** its last run ended with another exit status than 0 */
  readonly hasFailed?: true;
}

/**
 * The last test, build, check, migration and deployment by each program, and the last run of anything else that changed something if it
 * failed; the oldest first. Where there is none of these, the last command that was no search. Commands that never ran are left out: the user
 * refused them, or the agent could not start them.
 */
export const commandsThatMatter = (uses: readonly ToolUse[]): readonly RunCommand[] => {
  const last = new Map<string, RunCommand>();
  const keep = (key: string, command: RunCommand): void => {
    last.delete(key); // the order is that of the last runs
    last.set(key, command);
  };
  let other: RunCommand | undefined;
  for (const { call, result } of uses) {
    if (call.commands === undefined) continue;
    const failed = hasFailed(result);
    if (result?.isError === true && !failed) continue;
    const parts = call.commands.flatMap(simpleCommandsIn);
    // which part of a line failed is not recorded: the last one is most often what the line is for
    const failing = failed ? (parts.findLast(({ kind }) => kind !== undefined) ?? parts.at(-1)) : undefined;
    for (const part of parts) {
      const { key, kind, text } = part;
      const isFailing = part === failing;
      const command = { text, line: call.source.line, ...(isFailing ? { hasFailed: true as const } : {}) };
      if (kind !== undefined) keep(key, command);
      else if (!LOOKS_ONLY.test(text)) {
        if (parts.length === 1) other = command;
        if (isFailing) keep(key, command);
        else last.delete(key);
      }
    }
  }
  return last.size === 0 && other ? [other] : [...last.values()];
};

/** Every command that may have run, in the same words, also those that do not matter. */
export const commandTextsIn = (uses: readonly ToolUse[]): readonly string[] =>
  uses.flatMap(({ call }) => (call.commands ?? []).flatMap(simpleCommandsIn)).map(({ text }) => text);

/** What the records of a call say of a piece of work. */
export type WorkOutcome = 'commit' | 'tests-passed' | 'tests-failed';

/**
 * A commit that was made, or tests that ran to their end; undefined where the records do not say it. Git names the commit; without that,
 * and for tests, only the exit status of the whole line counts, so they must be the last of it, with nothing behind a pipe.
 */
export const workOutcome = ({ call, result }: ToolUse): WorkOutcome | undefined => {
  const { commands = [] } = call;
  const lines = commands.map(simpleCommandsIn);
  const commits = lines.flat().some(isCommit);
  if (!result || !(commits || lines.at(-1)?.at(-1)?.kind === 'test')) return undefined;
  if (commits && COMMITTED.test(result.output)) return 'commit';
  const [line = '', ...others] = commands;
  const last = lines.at(-1)?.at(-1);
  if (!last || others.length > 0 || !tellsStatus(line) || GOES_ON.test(result.output.slice(0, STATUS_ROOM)))
    return undefined;
  const failed = hasFailed(result);
  if (result.isError && !failed) return undefined; // it never ran
  if (isCommit(last)) return failed ? undefined : 'commit';
  if (last.kind !== 'test') return undefined;
  return failed ? 'tests-failed' : 'tests-passed';
};

/** False for what is neither a commit nor tests for sure, by its text. */
export const mayEndWork = (text: string): boolean => MAY_END.test(text);
const MAY_END =
  /commit|[tT]est|spec|e2e|jest|mocha|phpunit|tox|nox|\bava\b|bats|cypress|(?:npm|yarn|bun|make|just) t\b/;

/** Git, with what may stand in front of its verb. */
const GIT = String.raw`git (?:-[cC] (?:"[^"]*"|'[^']*'|[^\s"'])+ |--\S+ )*`;
const COMMIT = new RegExp(String.raw`^${GIT}commit(?![\w-])`);
const isCommit = ({ text }: SimpleCommand): boolean => COMMIT.test(text) && !ASKS_ONLY.test(text);
/** `[main 1a2b3c4] subject` */
const COMMITTED = /^\[[^\]\n]{1,200} [0-9a-f]{7,40}\] /m;
/** The agent has put it into the background, or waits for it no longer. */
const GOES_ON = /\b(?:running in (?:the )?background|running with session id|moved to the background)\b/i;

/** The exit status of the line is that of its last command: it is not piped, and not run in place of one that failed. */
const tellsStatus = (line: string): boolean =>
  !/[^&]&\s*$/.test(line) &&
  piecesOf(line).every((piece) => piece !== '|' && piece !== '||') &&
  innerLineOf(partsOf(line).at(-1) ?? '', tellsStatus) !== false;

const STATUS_ROOM = 400; // characters at either end of an output in which the agents put the exit status
const STATUS =
  '\\W{0,3}(?:process |command |shellid: \\S+ completed with )?(?:exited|failed|exit)(?: with)?(?: exit)? (?:code|status):? (\\d+)(?=[^\\w\\n]*(?:\\n|$))';
/** Lines of the agents around it: `Wall time: 1.2 seconds`, `Signal: (none)`. */
const FIELD =
  '(?:wall time|output|total output|original token count|chunk id|session id|command|directory|stdout|stderr|error|signal|background pids|process group|warning)[\\w ]{0,30}:[^\\n]*';
// elsewhere in an output a program may say so of another one
const [STATUS_FIRST, STATUS_LAST] = [
  new RegExp(`^\\s*(?:${FIELD}\\n){0,3}${STATUS}`, 'i'),
  new RegExp(`^${STATUS}[^\\n]*(?:\\n(?:${FIELD}|<[^\\n>]*>)){0,5}\\s*$(?![\\s\\S])`, 'im'),
];

const hasFailed = (result: Result | undefined): boolean => {
  if (!result) return false;
  const { output } = result;
  const found =
    STATUS_FIRST.exec(output.slice(0, STATUS_ROOM)) ?? STATUS_LAST.exec(output.slice(-STATUS_ROOM));
  return found !== null && Number(found[1]) !== 0;
};

interface SimpleCommand {
  readonly text: string;
  /** runs with the same key do the same, perhaps with other arguments */
  readonly key: string;
  readonly kind?: CommandKind;
}

const LONGEST_LINE = 4_000; // characters
const LONGEST_WITH_DOCUMENTS = 20_000; // characters
/** Its text, up to the line that ends it or, where that is missing, to the end. */
const HERE_DOCUMENT = /<<-?[ \t]*\\?(['"]?)(\w+)(?!\w)\1([^\n]*)\n[\s\S]*?^[ \t]*\2[ \t]*$/gm;
const OPEN_DOCUMENT = /<<-?[ \t]*\\?(['"]?)[A-Z_]\w*\1([^\n]*)\n[\s\S]*$/;
// quoted text is one piece; so is what stands in $(…)
const PIECES =
  /"(?:\\.|[^"\\])*"|\$'(?:\\.|[^'\\])*'|'[^']*'|\$\([^()]*\)|\\.|\|\|?|&&|;|\n|[^"'\\|&;\n$]+|./gs;
/** What stands before a pipe only to answer what it goes to. */
const SAYS_ONLY = /^\s*(?:yes|echo|printf)(?![\w-])/;
const SEPARATOR = /^(?:\|\|?|&&|;|\n)$/;

/** Words, quoted texts and separators, without here documents. */
const piecesOf = (line: string): readonly string[] => {
  const bare = line
    .slice(0, LONGEST_WITH_DOCUMENTS)
    .replace(HERE_DOCUMENT, '$3')
    .replace(OPEN_DOCUMENT, '$2');
  return Array.from(bare.slice(0, LONGEST_LINE).matchAll(PIECES), ([piece]) => piece);
};

const simpleCommandsIn = (line: string): readonly SimpleCommand[] =>
  partsOf(line).flatMap((command) => {
    const inner = innerLineOf(command, simpleCommandsIn);
    if (inner) return inner;
    const text = command.includes('(') ? command : command.replace(/\)+$/, ''); // of a group that began before
    return COMMAND.test(text) ? [simpleCommand(withoutSecrets(text))] : [];
  });

/** The commands of a line, each without its pipe, its redirections and what only runs it. */
const partsOf = (line: string): readonly string[] => {
  const parts: string[] = [''];
  let isPiped = false;
  for (const piece of piecesOf(line)) {
    if (SEPARATOR.test(piece)) {
      isPiped = piece === '|' && !SAYS_ONLY.test(parts.at(-1) ?? '');
      if (!isPiped) parts.push('');
    } else if (!isPiped) parts[parts.length - 1] += piece; // what a pipe goes to only shortens the output
  }
  return parts.map((part) => part.replace(REDIRECTION, ' ').replace(LEAD, '').trim());
};

/** A word with quotes or without. */
const WORD = String.raw`(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"']\S*)`;

/** `bash -lc 'npm test'`, `bash -euo pipefail -c "npm test" name`, `fish -c $'npm test'`; no option can be read in two ways. */
const SHELL = new RegExp(
  String.raw`^(?:\S*\/)?(?:ba|da|fi|k|z)?sh (?:[-+]\w*[oO] \w+ |--(?:rcfile|init-file) ${WORD} |(?:\+|--?)\w[\w-]* )*(?:-\w*c |--command[ =])("(?:\\.|[^"\\])*"|\$'(?:\\.|[^'\\])*'|'[^']*')(?: .*)?$`,
  's',
);

/** What is made of the line that a shell is given to run; undefined where the command is no such shell. */
const innerLineOf = <Made>(command: string, make: (line: string) => Made): Made | undefined => {
  const quoted = SHELL.exec(command)?.[1];
  if (quoted === undefined) return undefined;
  if (quoted.startsWith('$')) return make(quoted.slice(2, -1).replace(ESCAPE, unescape));
  const inner = quoted.slice(1, -1);
  return make(quoted.startsWith('"') ? inner.replace(/\\(["\\$`])/g, '$1') : inner);
};

/** In `$'…'`: a letter, or the number of a character. */
const ESCAPE = /\\(x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|[0-7]{1,3}|.)/gs;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
const unescape = (_: string, escaped: string): string => {
  if (/^[0-7]/.test(escaped)) return character(Number.parseInt(escaped, 8));
  return escaped.length > 1
    ? character(Number.parseInt(escaped.slice(1), 16))
    : (ESCAPED[escaped] ?? escaped);
};
/** No control character is written out. */
const character = (code: number): string => (code < 0x20 && code !== 0x0a ? ' ' : String.fromCharCode(code));

const SECRETS = [
  /((?:token|secret|passwd|password|api[_-]?key|access[_-]?key)["']?[=:]["']?)(?!\$)[^\s"'&]{6,}/gi,
  /((?<![\w-])--?(?:[\w-]*-)?(?:token|secret|password|api-?key)\s+["']?)(?![$-])[^\s"']{6,}/gi,
  /(\bBearer\s+)(?!\$)[^\s"']{6,}/gi,
  /(:\/\/[^\s:@/]+:)(?!\$)[^\s@/]+(?=@)/g,
  /(\b(?:gh[opsu]|github_pat|npm|glpat|sk|xox[abp])[-_])[\w-]{16,}/g,
];

/** What is listed is also drafted into prompts and written into handoffs. */
const withoutSecrets = (command: string): string =>
  SECRETS.reduce((text, pattern) => text.replace(pattern, '$1…'), command);

/** A program, not a word of the shell. */
const COMMAND = /^(?!(?:cd|done|fi|else|esac|export|set)(?![\w-]))[\w./~$]/;

const REDIRECTION = /\s+(?:[12&]?>>?\s*(?:&\d|[^\s;|&]+)|&)(?=\s|$)/g;
/** A program with options that have a value, in one letter or as a word. */
const runner = (name: string, letters: string, words: string): string =>
  String.raw`${name}(?:\s+(?:-\w*[${letters}]|--(?:${words}))\s+${WORD}|\s+-\S+)*\s`;
/** Assignments, and programs that only run another one. */
const LEAD = new RegExp(
  `^(?:${[
    String.raw`\s|\\\s|[({!]\s|[A-Za-z_]\w*=(?:"[^"]*"|'[^']*'|[^\s"']*)\s`,
    runner('sudo', 'CDghpRrTtu', 'chdir|group|host|prompt|user'),
    runner('doas', 'Cu', 'user'),
    runner('nice', 'n', 'adjustment'),
    runner('env', 'uC', 'unset|chdir'),
    String.raw`(?:time|nohup|exec|command|npx|bunx|then|do)(?:\s+-\S+)*\s|timeout\s+\S+\s`,
    String.raw`(?:uv|poetry|pipenv|bundle|pnpm)\s+(?:run|exec|dlx)\s+--?\s|mise\s+(?:x|exec)\s(?:[^\s-]\S*\s)*--\s`,
    String.raw`(?:uv|poetry|pipenv)\s+run\s|bundle\s+exec\s`,
    String.raw`pnpm(?:\s+(?:--filter|--dir|-[FC])\s+\S+)*\s+(?:exec|dlx)\s`,
  ].join('|')})+`,
);

/** It does not do what it is named for. */
const ASKS_ONLY = /\s--(?:help|version|dry-run)(?:\s|$)/;

const simpleCommand = (text: string): SimpleCommand => {
  for (const [kind, pattern] of kinds) {
    const name = pattern.exec(text)?.[0];
    if (name === undefined || ASKS_ONLY.test(text)) continue;
    const isOfProgram = kind === 'test' || kind === 'build' || kind === 'check';
    const program = TASK.exec(text)?.[0] ?? (isOfProgram ? wordsOf(name)[0] : wordsOf(name).join(' '));
    return { text, kind, key: `${kind} ${program}` };
  }
  return { text, key: wordsOf(text).slice(0, 2).join(' ') };
};

/** Without options, of which Git's `-c` and `-C` have a value in front of the verb. */
const wordsOf = (text: string): readonly string[] =>
  text
    .replace(LEADING_GIT, 'git ')
    .replace(/ -C \S+/, '')
    .split(/\s+/)
    .filter((word) => !word.startsWith('-'));

const LEADING_GIT = new RegExp(`^${GIT}`);
const VALUED = '(?:--(?:filter|workspace|prefix|dir|cwd)|-[FC])';
/** In front of a task; `--filter app` and the like name a project: its task is another program. */
const OPTION = `(?:(?:${VALUED}|workspace) [^\\s-]\\S*|(?!${VALUED} )-\\S+)`;
const RUNNERS =
  '(?:npm|pnpm|yarn|bun|mise|just|make|task|rake|turbo|nx|deno|composer|mix|rails|bin/rails|poe|hatch|lerna)';
/** Each task is a program of its own: `npm run test:e2e` says nothing of `npm test`. */
const TASK = new RegExp(`^${RUNNERS}(?: (?:run|task|r|${OPTION}))* \\w\\S*`);
/** A task of a project with such a word in its name: `npm run test:ci`, `make lint`. */
const task = (words: string): string =>
  `${RUNNERS}(?: run| task| ${OPTION})*(?: r)? (?:[\\w:/.-]*[:/.-])?(?:${words})(?![A-Za-z])`;
/** A script of a project with such a word in its name: `./scripts/test-all.sh`. */
const script = (words: string): string =>
  `(?:(?:ba|z)?sh |node |python3? )?(?:\\.{0,2}/?(?:[\\w.-]+/)*)(?:[\\w-]*[-_])?(?:${words})(?:[-_][\\w-]*)?\\.(?:sh|py|mjs|js|ts)\\b`;
const kindOf = (...forms: readonly string[]): RegExp => new RegExp(`^(?:${forms.join('|')})`);

const kinds: readonly (readonly [CommandKind, RegExp])[] = [
  [
    'migration',
    kindOf(
      task('migrate|migration|migrations|db:push|db:migrate|ecto\\.migrate'),
      script('migrate|migration|migrations'),
      'alembic (?:upgrade|downgrade)',
      '(?:prisma|knex|sqlx|diesel|typeorm|sequelize|drizzle-kit|goose|dbmate|flyway|liquibase|refinery)\\b.*\\b(?:migrat\\w*|push|up|down|run|update|redo|revert)\\b',
      '(?:python3? )?(?:\\S*/)?manage\\.py migrate',
      'php artisan migrate',
    ),
  ],
  [
    'deploy',
    kindOf(
      task('deploy|release|publish'),
      script('deploy|release|publish'),
      `${GIT}push\\b`,
      'gh (?:(?:pr|issue) (?:create|merge|close|comment|edit|ready|review)|release (?:create|upload|edit|delete)|workflow run)\\b',
      'gh api(?! graphql)(?=[\\s\\S]* (?:-[fF]|--(?:raw-)?field|(?:-X|--method) (?:POST|PUT|PATCH|DELETE))\\b)',
      '(?:npm|pnpm|yarn|bun|cargo|poetry|uv|gem|twine|dart pub|mix hex\\.)\\s*(?:publish|push|upload)\\b',
      '(?:kubectl|oc) (?:apply|rollout|delete|scale|patch|set)\\b',
      'helm (?:install|upgrade|uninstall|rollback)\\b',
      '(?:terraform|tofu|pulumi|cdk) (?:apply|destroy|up|deploy)\\b',
      'docker(?: compose)? (?:push|up|down)\\b',
      '(?:fly|flyctl|vercel|netlify|wrangler|firebase|serverless|sls|railway|heroku|eb|gcloud|aws|az)\\b.*\\b(?:deploy|publish|up|promote)\\b',
      'ansible-playbook\\b',
    ),
  ],
  [
    'test',
    kindOf(
      task('tests?|t|e2e|spec|check:test'),
      script('tests?|e2e'),
      '(?:go|cargo|swift|dotnet|sbt|zig|flutter|dart|lein|stack|cabal|bazel|php artisan|mvn|(?:\\./)?gradlew?|(?:\\./)?mvnw)(?: [-+\\w:.=/]+)*? (?:\\w*[tT]est|nextest)\\b',
      '(?:pytest|py\\.test|jest|vitest|mocha|rspec|phpunit|tox|nox|ava|ctest|bats|(?:\\S*/)(?:pytest|jest|vitest|mocha|rspec|phpunit))\\b',
      '(?:playwright test|cypress run|python3? -m (?:pytest|unittest)|node --test)\\b',
    ),
  ],
  [
    'build',
    kindOf(
      task('build|compile|bundle|dist|all|package'),
      script('build|compile'),
      'make(?: -\\S+)*$',
      'go (?:build\\b|install\\b(?! \\S+@))',
      '(?:cargo|swift|dotnet|zig|stack|cabal|bazel|docker|podman|docker compose|vite|next|nuxt|astro|hugo|flutter|tsup) (?:[-+]\\S+ )*(?:build|install|package|publish)\\b',
      '(?:(?:\\./)?gradlew?|mvn|(?:\\./)?mvnw)\\b.*\\b(?:build|assemble|package|compile|install)\\b',
      '(?:webpack|rollup|esbuild|ninja|xcodebuild|msbuild|tsc -b|cmake --build)\\b',
    ),
  ],
  [
    'check',
    kindOf(
      task('lint|lints|check|checks|typecheck|types|tsc|vet|clippy|ci'),
      script('lint|check'),
      'cargo (?:\\+\\S+ )?(?:check|clippy)\\b',
      '(?:cargo fmt|prettier|black|rustfmt|dprint|oxfmt)\\b(?=.* (?:--check|-c)\\b)', // formatting itself tells nothing
      'go vet\\b',
      '(?:golangci-lint run|tsc|eslint|oxlint|biome|ruff|mypy|pyright|flake8|pylint|shellcheck|rubocop|hadolint|pre-commit|lefthook|hk|ktlint|swiftlint|stylelint)\\b',
    ),
  ],
];

/** Its failure tells that something was not found. */
const LOOKS_ONLY = new RegExp(
  String.raw`^(?:(?:\S*\/)?(?:ls|cat|head|tail|wc|nl|sed -n|awk|grep|egrep|rg|ag|fd|find|which|type|test|\[|pwd|stat|file|diff|cmp|jq|tree|ps|pgrep|env|printenv|sleep|true|false|date|whoami|du|df|for|while|if|until|cut|sort|uniq|od|xxd|curl|man|command -v)(?![\w-])|${GIT}(?:status|diff|log|show|branch|blame|grep|ls-\S+|rev-\S+|cat-file|describe|reflog|remote|merge-base|merge-tree|for-each-ref|show-ref|config|check-ignore|fsck|stash list|worktree list|name-rev|symbolic-ref)\b|cargo (?:tree|search|info|metadata)\b|gh (?:api|search|auth|(?:pr|run|issue|repo|release|label|workflow) (?:view|list|status|checks|diff|watch))\b|\S+ (?:--help|--version|-h|-v|version|help)$)`,
);
