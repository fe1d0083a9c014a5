// The shape of the source as data, checked against what is there. A floor may import the floors it lists, and nothing else.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const floors: Readonly<Record<string, readonly string[]>> = {
  core: [],
  runtimes: ['core'],
  terminal: ['core'],
  storage: ['core'],
  ui: ['core'],
  demo: ['core'],
  verify: ['core', 'terminal'],
  wrap: ['core', 'runtimes', 'terminal', 'storage', 'ui'],
  cli: ['core', 'runtimes', 'storage', 'ui', 'verify', 'wrap'],
};

/** What a floor may import from outside; `node:` stands for all of Node. */
const packages: Readonly<Record<string, readonly string[]>> = {
  core: ['valibot'], // pure, too
  runtimes: ['node:path'],
  terminal: [
    'node:',
    '@lydell/node-pty',
    '@xterm/headless',
    '@xterm/addon-unicode11',
    'get-east-asian-width',
  ],
  storage: ['node:', 'jsonc-parser'],
  ui: ['ink', 'react', 'chalk', 'string-width'],
  demo: ['node:', 'string-width'],
  verify: ['node:'],
  wrap: ['node:'],
  cli: ['node:', 'commander', 'string-width'],
};

/** The few that are expensive or native have one door each. */
const doors: Readonly<Record<string, string>> = {
  '@lydell/node-pty': 'terminal/child.ts',
  '@xterm/headless': 'terminal/emulator.ts',
  ink: 'ui/',
  commander: 'cli/',
};

/** Knows the time, the machine or chance: a decision that uses one of these cannot be replayed. */
const impure = [
  'process',
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'fetch',
  'console',
];
const pureFloors = ['core', 'runtimes'];
/** Where this process itself is meant: its streams, signals, arguments and end. */
const processPlaces = ['cli/', 'terminal/', 'demo/', 'wrap/exit-status.ts', 'wrap/passthrough.ts'];

const [maxFileLines, maxFunctionLines] = [200, 60];
const vagueNames = /(^|-)(utils?|helpers?|managers?|services?|handlers?|base|common|misc|shared|index)(-|$)/;

const root = resolve(import.meta.dirname, '../src');

interface Source {
  /** from src/ */
  readonly path: string;
  readonly floor: string;
  readonly text: string;
  readonly tree: ts.SourceFile;
}

const sources: readonly Source[] = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8');
    const tree = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    return { path, floor: path.split('/')[0] ?? '', text, tree };
  });

const nodesOf = (node: ts.Node): readonly ts.Node[] => {
  const found: ts.Node[] = [];
  const visit = (each: ts.Node): void => {
    found.push(each);
    ts.forEachChild(each, visit);
  };
  visit(node);
  return found;
};

const importsOf = ({ tree }: Source): readonly string[] =>
  nodesOf(tree).flatMap((node) => {
    const isCall = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
    const from = isCall
      ? node.arguments[0]
      : ts.isImportDeclaration(node) || ts.isExportDeclaration(node)
        ? node.moduleSpecifier
        : undefined;
    return from && ts.isStringLiteral(from) ? [from.text] : [];
  });

/** What is imported at run time, too: a type costs nothing. */
const loadsOf = ({ tree }: Source): readonly string[] =>
  nodesOf(tree).flatMap((node) =>
    ts.isImportDeclaration(node) &&
    node.importClause?.isTypeOnly !== true &&
    ts.isStringLiteral(node.moduleSpecifier)
      ? [node.moduleSpecifier.text]
      : [],
  );

/** Names used as values: not the `now` in `options.now`, not keys, not types. */
const globalsOf = ({ tree }: Source): readonly string[] =>
  nodesOf(tree)
    .filter(ts.isIdentifier)
    .filter(({ parent }) => !ts.isTypeReferenceNode(parent) && !ts.isQualifiedName(parent))
    .filter((node) => !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node))
    .filter((node) => !(ts.isPropertyAssignment(node.parent) && node.parent.name === node))
    .map(({ text }) => text);

/** One line for each broken rule, so that a failure reads like a to-do list. */
const each = (rule: (source: Source) => readonly string[]): readonly string[] =>
  sources.flatMap((source) => rule(source).map((fault) => `${source.path}: ${fault}`));

describe('the floors', () => {
  it('are all there is, and none is empty', () => {
    expect(new Set(sources.map(({ floor }) => floor))).toEqual(new Set(Object.keys(floors)));
  });

  it('import only the floors below them', () => {
    const faults = each((source) =>
      importsOf(source)
        .filter((name) => name.startsWith('.'))
        .map((name) => relative(root, join(root, dirname(source.path), name)).split('/')[0] ?? '')
        .filter((floor) => floor !== source.floor && !floors[source.floor]?.includes(floor))
        .map((floor) => `imports ${floor}`),
    );
    expect(faults).toEqual([]);
  });

  it('import only their own packages', () => {
    const isAllowed = (floor: string, name: string): boolean =>
      packages[floor]?.some((each) => name === each || (each === 'node:' && name.startsWith(each))) ?? false;
    const faults = each((source) =>
      importsOf(source)
        .filter((name) => !name.startsWith('.') && !isAllowed(source.floor, name))
        .map((name) => `imports ${name}`),
    );
    expect(faults).toEqual([]);
  });

  it('use costly packages through one door', () => {
    const faults = each((source) =>
      loadsOf(source).filter((name) => doors[name] !== undefined && !source.path.startsWith(doors[name])),
    );
    expect(faults).toEqual([]);
  });

  it.each(pureFloors)('%s knows no time, no machine and no chance', (floor) => {
    const faults = each((source) =>
      source.floor === floor
        ? [
            ...globalsOf(source).filter((name) => impure.includes(name)),
            ...(source.text.includes('Math.random') ? ['Math.random'] : []),
          ]
        : [],
    );
    expect(faults).toEqual([]);
  });

  it('touch this process only where it is meant', () => {
    const faults = each((source) =>
      globalsOf(source).includes('process') && !processPlaces.some((place) => source.path.startsWith(place))
        ? ['uses process']
        : [],
    );
    expect(faults).toEqual([]);
  });

  it('print errors and decide the exit status in one file', () => {
    const faults = each(({ path, floor, text }) =>
      path !== 'cli/main.ts' && floor !== 'demo' && /process\.exit|console\./.test(text)
        ? ['prints or exits']
        : [],
    );
    expect(faults).toEqual([]);
  });
});

describe('the files', () => {
  it('are short enough to be read at once', () => {
    const faults = each(({ text }) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > maxFileLines ? [`${lines} lines`] : [];
    });
    expect(faults).toEqual([]);
  });

  it('hold functions that are short enough to be understood at once', () => {
    const faults = each(({ tree }) =>
      nodesOf(tree).flatMap((node) => {
        if (!ts.isFunctionLike(node)) return [];
        const first = tree.getLineAndCharacterOfPosition(node.getStart()).line;
        const lines = tree.getLineAndCharacterOfPosition(node.getEnd()).line - first + 1;
        return lines > maxFunctionLines ? [`${lines} lines from line ${first + 1}`] : [];
      }),
    );
    expect(faults).toEqual([]);
  });

  it('have names that say what is in them', () => {
    const faults = each(({ path }) => {
      const name = path.split('/').at(-1) ?? '';
      const stem = name.replace(/\.tsx?$/, '');
      const isWellFormed = name.endsWith('.tsx') ? /^[A-Z][A-Za-z]*$/ : /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
      if (path === 'runtimes/index.ts') return [];
      return isWellFormed.test(stem) && !vagueNames.test(stem) ? [] : ['the name'];
    });
    expect(faults).toEqual([]);
  });

  it('have no default export, no class but errors and no enum', () => {
    const faults = each(({ tree }) =>
      nodesOf(tree).flatMap((node) => {
        if (ts.isExportAssignment(node) || node.kind === ts.SyntaxKind.DefaultKeyword)
          return ['default export'];
        if (ts.isEnumDeclaration(node)) return ['enum'];
        if (!ts.isClassLike(node)) return [];
        return node.heritageClauses?.some((clause) => clause.getText() === 'extends Error') ? [] : ['class'];
      }),
    );
    expect(faults).toEqual([]);
  });
});

describe('the runtimes', () => {
  const filesOf = (name: string): readonly string[] =>
    sources
      .filter(({ path }) => path.startsWith(`runtimes/${name}/`))
      .map(({ path }) => path.split('/').at(-1) ?? '');
  const names = [...new Set(sources.flatMap(({ path }) => /^runtimes\/([^/]+)\//.exec(path)?.[1] ?? []))];

  it('that are agents have the same files, so that who knows one knows all', () => {
    const needed = ['launch.ts', 'log.ts', 'paths.ts', 'runtime.ts'];
    const missing = ['claude', 'codex', 'gemini', 'qwen'].flatMap((name) =>
      needed.filter((file) => !filesOf(name).includes(file)).map((file) => `${name}/${file}`),
    );
    expect(missing).toEqual([]);
  });

  it('have no file of a name of its own', () => {
    const known = [
      'activity.ts',
      'banner.ts',
      'command-answer.ts',
      'command-result.ts',
      'compaction-end.ts',
      'contents.ts',
      'conversation.ts',
      'document.ts',
      'doubt.ts',
      'growth.ts',
      'home.ts',
      'ladder.ts',
      'launch.ts',
      'layout.ts',
      'log.ts',
      'models.ts',
      'native-hold.ts',
      'official.ts',
      'paths.ts',
      'percent.ts',
      'prompt.ts',
      'recipe.ts',
      'records.ts',
      'runtime.ts',
      'screen.ts',
      'settings.ts',
      'shown-percent.ts',
      'window.ts',
      'signs.ts',
      ...['logo', 'own-word', 'spinner', 'status', 'summary', 'title', 'title-signs'].map((it) => `${it}.ts`),
    ];
    const agents = names.filter((name) => name !== 'defined'); // no agent, but what makes one of a user's definition
    expect(agents.flatMap((name) => filesOf(name).filter((file) => !known.includes(file)))).toEqual([]);
    expect(agents.filter((name) => !filesOf(name).includes('runtime.ts'))).toEqual([]);
  });

  it('do not know each other', () => {
    const faults = each((source) => {
      const own = /^runtimes\/([^/]+)\//.exec(source.path)?.[1];
      if (own === undefined) return [];
      return importsOf(source).filter((name) =>
        names.some((other) => other !== own && name.startsWith(`../${other}/`)),
      );
    });
    expect(faults).toEqual([]);
  });
});
