// The shape of the source as data, checked against what is there. A floor may import the floors it lists, and nothing else.
import { readFileSync, readdirSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const floors: Readonly<Record<string, readonly string[]>> = {
  core: [],
  agents: ['core'],
  terminal: ['core'],
  storage: ['core'],
  ui: ['core'],
  demo: ['core'],
  verify: ['core', 'terminal'],
  session: ['core', 'agents', 'terminal', 'storage'],
  'session-files': ['core', 'agents', 'storage'],
  typing: ['core', 'agents', 'terminal', 'storage', 'session', 'session-files'],
  worker: ['core', 'agents', 'terminal', 'storage', 'ui', 'session', 'session-files', 'typing'],
  'main-thread': ['core', 'agents', 'terminal', 'storage', 'session'],
  replay: ['core', 'agents', 'terminal', 'storage', 'session-files', 'worker'],
  cli: [
    'core',
    'agents',
    'terminal',
    'storage',
    'ui',
    'verify',
    'session',
    'session-files',
    'worker',
    'main-thread',
    'replay',
  ],
};

/** What a floor may import from outside; `node:` stands for all of Node. */
const packages: Readonly<Record<string, readonly string[]>> = {
  core: ['valibot'], // pure, too
  agents: ['node:path', 'valibot'], // pure, too
  terminal: [
    'node:',
    '@lydell/node-pty',
    '@xterm/headless',
    '@xterm/addon-unicode11',
    'get-east-asian-width',
  ],
  storage: ['node:', 'jsonc-parser'],
  ui: ['ink', 'react', 'chalk', 'string-width', 'd3-scale', 'd3-shape'],
  demo: ['node:', 'string-width'],
  verify: ['node:'],
  session: [],
  'session-files': ['node:'],
  typing: ['node:', 'ws'],
  worker: [
    'node:',
    '@opentelemetry/api',
    '@opentelemetry/exporter-metrics-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-metrics',
  ],
  'main-thread': ['node:'],
  replay: ['node:'],
  cli: ['node:', 'commander', 'string-width'],
};

/** The few that are expensive or native have one door each. */
const doors: Readonly<Record<string, string>> = {
  '@lydell/node-pty': 'terminal/native-pty.ts',
  '@xterm/headless': 'terminal/emulator.ts',
  ink: 'ui/',
  commander: 'cli/',
  '@opentelemetry/api': 'worker/otlp.ts',
  '@opentelemetry/exporter-metrics-otlp-http': 'worker/otlp.ts',
  '@opentelemetry/resources': 'worker/otlp.ts',
  '@opentelemetry/sdk-metrics': 'worker/otlp.ts',
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
const pureFloors = ['core', 'agents'];
/** Where this process itself is meant: its streams, signals, arguments and end. */
const processPlaces = [
  'cli/',
  'terminal/',
  'demo/',
  'storage/database-reader.ts', // a process of its own
  'main-thread/exit-status.ts',
  'main-thread/passthrough.ts',
  'storage/timing.ts',
];

const [maxFileLines, maxFunctionLines] = [500, 60];
const [mostFiles, mostLevels] = [35, 10]; // of a folder
const smallLines = 50; // a smaller file is one because two others need it
/** Entries of the program, and what is loaded later, which has a file of its own for that. */
const entries = [
  'cli/main.ts',
  'cli/worker-thread.ts',
  'cli/library.ts',
  'demo/main.ts',
  'storage/database-reader.ts',
];
const lists = ['cli/commands.ts', 'agents/index.ts']; // what they hold is one file each, however small
const startsWith = ['cli/main.ts']; // it runs before the child
/** What no session waits for: it is loaded when the child runs, or by other commands. */
const later = [
  /^(?:ui|worker|typing|session-files|replay|verify)\//,
  /^terminal\/(?:screen-model|emulator|filter\/)/,
  /^main-thread\/(?:wrap|route|session-parts|worker-host)\.ts$/, // what shows the child: it loads while the child starts
  /^core\/(?:session|footer-view|fusion|conversation\/.*)\.ts$/, // what decides, reads and tells
  /^agents\/(?:index|entries|session-format|compress)\.ts$/, // readers of all agents
  /^agents\/\w+\/(?:agent|screen|flat-screen|layout|view|activity|session|outline|files|locate|new-session)\.ts$/,
  /^cli\/(?:program|options|commands|define\/.*|config\/load)\.ts$/, // commander, help and descriptions
];
const slowPackages = ['valibot', 'jsonc-parser', 'chalk', 'string-width', '@xterm/headless', 'ink', 'react'];
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
  nodesOf(tree).flatMap((node) => {
    const isImport = ts.isImportDeclaration(node) && node.importClause?.isTypeOnly !== true;
    const isExport = ts.isExportDeclaration(node) && !node.isTypeOnly;
    const from = isImport || isExport ? node.moduleSpecifier : undefined;
    return from && ts.isStringLiteral(from) ? [from.text] : [];
  });

/** What is loaded when it is needed. */
const laterOf = ({ tree }: Source): readonly string[] =>
  nodesOf(tree).flatMap((node) => {
    if (!ts.isCallExpression(node) || node.expression.kind !== ts.SyntaxKind.ImportKeyword) return [];
    const [from] = node.arguments;
    return from && ts.isStringLiteral(from) ? [from.text] : [];
  });

const stemOf = (path: string): string => path.replace(/\.tsx?$/, '');

/** A relative import, from src/ and without its ending. */
const pathOf = (source: Source, name: string): string =>
  join(dirname(source.path), name).replace(/\.js$/, '');

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

describe('the folders', () => {
  const found = new Map(sources.map((source) => [stemOf(source.path), source]));
  const nextOf = (source: Source): readonly Source[] =>
    loadsOf(source).flatMap((name) => found.get(pathOf(source, name)) ?? []);
  const folderOf = ({ path }: Source): string => dirname(path);

  it('hold few enough files to be read as a list', () => {
    const counts = new Map<string, number>();
    for (const source of sources) counts.set(folderOf(source), (counts.get(folderOf(source)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > mostFiles)).toEqual([]);
  });

  it('have few levels of files that load one another, and no circle', () => {
    const [levels, open, faults] = [new Map<string, number>(), new Set<string>(), new Set<string>()];
    const levelOf = (source: Source): number => {
      const known = levels.get(source.path);
      if (known !== undefined) return known;
      if (open.has(source.path)) faults.add(`${source.path}: a circle`);
      if (open.has(source.path)) return 0;
      open.add(source.path);
      const below = nextOf(source).map((next) => [levelOf(next), folderOf(next)] as const);
      const inside = below.filter(([, folder]) => folder === folderOf(source)).map(([level]) => level);
      const level = 1 + Math.max(0, ...inside);
      if (level > mostLevels) faults.add(`${source.path}: level ${level}`);
      levels.set(source.path, level);
      return level;
    };
    sources.forEach(levelOf);
    expect([...faults]).toEqual([]);
  });

  it.each(['undo', 'shorten', 'history', 'history-show', 'recall', 'context', 'handoff'])(
    '%s works on files alone: it loads nothing of a running session',
    (command) => {
      const loaded = new Set<Source>();
      const load = (source: Source | undefined): void => {
        if (!source || loaded.has(source)) return;
        loaded.add(source);
        nextOf(source).forEach(load);
      };
      load(found.get(`cli/commands/${command}`));
      const floorsOf = [...loaded].map(({ floor }) => floor);
      expect(floorsOf).toContain('session-files');
      expect(floorsOf.filter((floor) => ['main-thread', 'worker', 'typing'].includes(floor))).toEqual([]);
    },
  );
});

// A type proves nothing about text that goes around it.
describe('text for people', () => {
  const only = (pattern: RegExp, ...places: readonly string[]): readonly string[] =>
    each(({ path, text }) =>
      !places.some((place) => path.startsWith(place)) && pattern.test(text) ? [`has ${pattern.source}`] : [],
    );

  it('becomes printable in one file', () => {
    expect(only(/\bas (?:unknown as )?(?:Printable|Styled|Span)\b/, 'core/printable.ts')).toEqual([]);
    expect(
      only(/\bcolourWith\b/, 'core/printable.ts', 'ui/theme.ts', 'cli/text.ts', 'main-thread/plain-row.ts'),
    ).toEqual([]);
  });

  it('is written by one file, which takes nothing else', () => {
    expect(only(/std(?:out|err)\.(?:write|end)\(/, 'cli/print.ts', 'demo/')).toEqual([]);
  });

  it('reaches Ink in one file', () => {
    const drawing = /\{[^}]*\b(?:Text|Transform|Static|renderToString)\b[^}]*\} from 'ink'/;
    expect(only(drawing, 'ui/Line.tsx')).toEqual([]);
    expect(only(/\bkeepColours\b/, 'core/printable.ts', 'ui/Line.tsx')).toEqual([]);
  });

  it('becomes a page by a tag that escapes it', () => {
    expect(only(/\bas Html\b/, 'ui/report-page.ts')).toEqual([]);
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

  it('that are small are there for two others', () => {
    const importers = new Map<string, number>();
    for (const source of sources)
      for (const name of new Set(importsOf(source).filter((each) => each.startsWith('.')))) {
        const path = pathOf(source, name);
        importers.set(path, (importers.get(path) ?? 0) + 1);
      }
    const listed = new Set(
      sources
        .filter(({ path }) => lists.includes(path))
        .flatMap((source) => importsOf(source).map((name) => pathOf(source, name))),
    );
    const lazy = new Set(sources.flatMap((source) => laterOf(source).map((name) => pathOf(source, name))));
    const faults = each(({ path, text }) => {
      const isSmall = text.trimEnd().split('\n').length < smallLines;
      const isAlone = (importers.get(stemOf(path)) ?? 0) < 2;
      const isApart = entries.includes(path) || lazy.has(stemOf(path)) || listed.has(stemOf(path));
      return isSmall && isAlone && !isApart ? ['one importer'] : [];
    });
    expect(faults).toEqual([]);
  });

  it('that run before the child load nothing slow', () => {
    const found = new Map(sources.map((source) => [stemOf(source.path), source]));
    const [loaded, slow] = [new Set<string>(), new Set<string>()];
    const load = (source: Source): void => {
      if (loaded.has(source.path)) return;
      loaded.add(source.path);
      for (const name of loadsOf(source)) {
        if (slowPackages.includes(name)) slow.add(`${source.path} loads ${name}`);
        const next = name.startsWith('.') ? found.get(pathOf(source, name)) : undefined;
        if (next) load(next);
      }
    };
    sources.filter(({ path }) => startsWith.includes(path)).forEach(load);
    expect(loaded.size).toBeGreaterThan(20);
    expect([...slow]).toEqual([]);
  });

  it('that a session runs before the child load no package, read no agent, filter, describe and draw nothing', () => {
    const found = new Map(sources.map((source) => [stemOf(source.path), source]));
    const [loaded, names] = [new Set<Source>(), new Set<string>()];
    const load = (source: Source): void => {
      if (loaded.has(source)) return;
      loaded.add(source);
      for (const name of loadsOf(source)) {
        const next = name.startsWith('.') ? found.get(pathOf(source, name)) : undefined;
        if (next) load(next);
        else if (!name.startsWith('node:')) names.add(name);
      }
    };
    load(found.get('cli/main') as Source);
    expect([...names]).toEqual([]);
    const paths = [...loaded].map(({ path }) => path);
    expect(paths).toContain('agents/claude/launch.ts');
    expect(paths.filter((path) => later.some((each) => each.test(path)))).toEqual([]);
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
      if (path === 'agents/index.ts') return [];
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

describe('the agents', () => {
  const folders = [...new Set(sources.flatMap(({ path }) => /^agents\/([^/]+)\//.exec(path)?.[1] ?? []))];
  const names = folders.filter((name) => !['demo', 'defined'].includes(name));
  const filesOf = (name: string): readonly string[] =>
    sources.filter(({ path }) => path.startsWith(`agents/${name}/`)).map(({ path }) => basename(path));

  it('have the same files, so that you find your way in all of them', () => {
    const needed = ['agent.ts', 'files.ts', 'layout.ts', 'screen.ts', 'session.ts'];
    const missing = names.flatMap((name) =>
      needed.filter((file) => !filesOf(name).includes(file)).map((file) => `${name}/${file}`),
    );
    expect(missing).toEqual([]);
  });

  it('do not know each other', () => {
    const faults = each((source) => {
      const own = /^agents\/([^/]+)\//.exec(source.path)?.[1];
      if (own === undefined) return [];
      return importsOf(source).filter((name) =>
        folders.some((other) => other !== own && name.startsWith(`../${other}/`)),
      );
    });
    expect(faults).toEqual([]);
  });

  // Settings of one agent that users write, and kinds of models that are called like agents.
  const isSetting = (text: string): boolean =>
    /^(?:--)?claude[.-]?(?:million|status-?line)(?: |$)/i.test(text);
  const modelPlaces = ['core/config/backends.ts', 'cli/library.ts'];
  const ownPlaces = [...modelPlaces, 'core/config/keys.ts', 'verify/agents.ts']; // the keys are documented where they stand

  it('are known by name in their folders and in one line of the table, and nowhere else', () => {
    const name = new RegExp(names.join('|'), 'i');
    const begin = new RegExp(`^\\W*(?:${names.join('|')})\\b`, 'i'); // in the middle of a sentence it is an example
    const isTold = (node: ts.Node): boolean => {
      if (ts.isIdentifier(node)) return name.test(node.text) && !isSetting(node.text);
      if (ts.isRegularExpressionLiteral(node)) return name.test(node.text);
      const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
      return isText && !ts.isImportDeclaration(node.parent) && begin.test(node.text) && !isSetting(node.text);
    };
    const faults = each((source) =>
      source.floor === 'agents' || ownPlaces.includes(source.path)
        ? []
        : nodesOf(source.tree)
            .filter(isTold)
            .map((node) => node.getText().slice(0, 60)),
    );
    expect(faults).toEqual([]);
  });
});
