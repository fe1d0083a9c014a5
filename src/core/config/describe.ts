import type { JsonRecord } from '../json.js';
import type { Key } from './key.js';
import { envNames, keyNames, configKey, type KeyName } from './keys.js';
import { present } from '../present.js';

// The table of keys as text: for the documentation and for the file that `config init` writes.

/** A key for the documentation. */
export interface Description {
  readonly name: KeyName;
  readonly doc: string;
  readonly allowed: string;
  /** the default, as JSON; otherwise a description of it */
  readonly fallback: string;
  readonly flag: string;
  readonly env: readonly string[];
  readonly project: string;
  /** a change takes effect in running sessions */
  readonly isLive: boolean;
}

export const describeKey = (name: KeyName): Description => {
  const key = configKey(name);
  const { doc, type, option, isLive } = key;
  return {
    name,
    doc,
    allowed: type.rule(),
    fallback: fallbackText(key),
    flag: option?.flag ?? '',
    env: envNames.filter((each) => each.key === name).map((each) => each.name),
    project: projectText(key),
    isLive: isLive ?? false,
  };
};

/** In place of a value that nobody has set and that has no default. */
export const unsetTexts = {
  agent: 'reported by the agent',
  ladder: 'from the ladder',
  backend: 'ladder, or percent with a backend',
} as const;

const fallbackText = ({ fallback, setBy }: Key): string => {
  if (fallback !== undefined) return JSON.stringify(fallback);
  return setBy === undefined ? 'none' : unsetTexts[setBy];
};

const projectText = ({ project }: Key): string =>
  project === undefined ? 'no' : `only towards ${JSON.stringify(project.at(-1))}`;

/** The names of all keys as rows of a Markdown table. */
export const keyTable = (): string => {
  const rows = keyNames.map((name) => {
    const { doc, allowed, fallback, flag, env, project, isLive } = describeKey(name);
    const cells = [
      code(name),
      `${doc} ${capital(allowed)}.`,
      code(fallback),
      code(flag),
      env.map(code).join(', '),
    ];
    return `| ${[...cells, project, isLive ? 'at once' : 'at the next start'].map(cell).join(' | ')} |`;
  });
  return [
    '| key | | default | option | environment | project file | a change applies |',
    '|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
};

const code = (text: string): string =>
  text === '' ||
  /^(?:reported by the agent|from the ladder|ladder, or percent with a backend|none)$/.test(text)
    ? text
    : `\`${text}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|');
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A key as comment lines of a configuration file: what it does, and the line that sets it. */
export const configComment = (name: KeyName): readonly string[] => {
  const { doc, allowed } = describeKey(name);
  const { example, fallback } = configKey(name);
  const value = JSON.stringify(fallback ?? example ?? {});
  const text = inLines(`${doc} ${capital(allowed)}.`, COMMENT_COLUMNS).map((line) => `// ${line}`);
  return [...text, `// ${JSON.stringify(name)}: ${value},`];
};

const COMMENT_COLUMNS = 90;

const inLines = (text: string, columns: number): readonly string[] =>
  text.split(' ').reduce<readonly string[]>((lines, word) => {
    const last = lines.at(-1);
    const longer = `${last} ${word}`;
    return last !== undefined && longer.length <= columns
      ? [...lines.slice(0, -1), longer]
      : [...lines, word];
  }, []);

// The JSON Schema of a configuration file, for editors.

export const jsonSchema = (): JsonRecord => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'ctxwrap',
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    ...Object.fromEntries(
      keyNames.map((name) => {
        const { doc, fallback, type } = configKey(name);
        return [name, { description: doc, ...present({ default: fallback }), ...type.schema }];
      }),
    ),
  },
  additionalProperties: false,
});
