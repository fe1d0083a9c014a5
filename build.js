// Bundles the program and the demo agent into dist/, so that an installed copy starts fast and needs one dependency. The tests run a second
// copy of the program, dist-fast/, which is not published: its waits on purpose are shorter, and it keeps its compiled code beside itself.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build, transform } from 'esbuild';
import ts from 'typescript';

/** Of what ctxwrap waits for on purpose, the tests wait for this share. */
const waitShare = (await readFile('test/support/wait-share.json', 'utf8')).trim();

/** A folder that is being built, beside the one whose place it takes when all is there. */
const unfinished = (folder) => `${folder}.new`;

/** What users run. */
const published = {
  folder: unfinished('dist'),
  mode: 0o755,
  define: { WAIT_SHARE: '1', KEEPS_CODE_BESIDE: 'false' },
};
// a code cache is trusted only in a folder that nobody else can write or read
const forTests = {
  folder: `${unfinished('dist-fast')}/dist`,
  mode: 0o700,
  define: { WAIT_SHARE: waitShare, KEEPS_CODE_BESIDE: 'true' },
};

// Ink awaits at its top level: Yoga, which lays out its rows, and devtools, which nobody has. Without that it is CommonJS as all the rest, and
// starts with compiled code. Yoga's own way to its code is `fetch`, which Node would load for that; compiled at once it takes 3 ms.
const YOGA = `const yoga = {
  instantiateWasm: (imports, use) => {
    const instance = new WebAssembly.Instance(new WebAssembly.Module(yogaCode), imports);
    use(instance);
    return instance.exports;
  },
};
loadYoga(yoga);
const Yoga = wrapAssembly(yoga);`;
const inkChanges = [
  [/yoga-layout\/dist\/src\/index\.js$/, /^import loadYoga from/m, 'import loadYoga, { yogaCode } from'],
  [/yoga-layout\/dist\/src\/index\.js$/, /^const Yoga = .*await.*$/m, YOGA],
  [
    /yoga-layout\/dist\/binaries\/[\w-]+\.js$/,
    /base64,([\w+/=]+)"([^]*)/,
    'base64,"$2;export const yogaCode = Buffer.from("$1", "base64");',
  ],
  [/ink\/build\/reconciler\.js$/, /\bawait import\('\.\/devtools\.js'\);/, ''],
  [/ink\/build\/reconciler\.js$/, /\bawait loadPackageJson\(\)/, 'undefined'], // for the devtools
  // The pattern of all emoji takes 15 ms to compile. An emoji of one UTF-16 unit is wide anyway (UAX #11), so it is not asked about those.
  [
    /^(?!.*\/wrap-ansi\/).*\/string-width\/index\.js$/,
    /\brgiEmojiRegex\.test\(segment\)/,
    '(segment.length > 1 && rgiEmojiRegex.test(segment))',
  ],
];
const inkAtOnce = {
  name: 'ink-at-once',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/node_modules\/(?:ink|yoga-layout|string-width)\/.*\.js$/ }, async ({ path }) => {
      let contents = await readFile(path, 'utf8');
      for (const [, from, to] of inkChanges.filter(([file]) => file.test(path))) {
        if (!from.test(contents)) throw new Error(`${path} has changed: it has no ${from}`);
        contents = contents.replace(from, to);
      }
      return { contents };
    });
  },
};

const SOURCE = resolve('src');
const START = join(SOURCE, 'cli/main.ts');

// What several entries share becomes a chunk of its own, dozens of them, and a start would wait for each. So every module that is loaded
// later says that the start is there by then: what a start needs stays in one file, which nothing that is loaded later is part of.
const loadedLater = {
  name: 'loaded-later',
  setup: ({ onLoad, onResolve, resolve: find }) => {
    onResolve({ filter: /^\./ }, async ({ path, kind, resolveDir, importer }) => {
      if (kind !== 'dynamic-import' || !importer.startsWith(SOURCE)) return undefined;
      const target = (await find(path, { resolveDir, importer, kind: 'import-statement' })).path;
      return { path: target.replace(/\.tsx?$/, ''), namespace: 'later', pluginData: target };
    });
    onLoad({ filter: /^/, namespace: 'later' }, ({ pluginData: target }) => ({
      contents: `import ${JSON.stringify(START)};\nexport * from ${JSON.stringify(target)};`,
      resolveDir: SOURCE,
    }));
  },
};

// The commands that start no agent are one file: apart, the code that they share with a session would become a dozen files that every session
// waits for. Left out are those that load much that the others do not need, and those that a shell calls.
const DEFINITIONS = join(SOURCE, 'cli/define');
const apart = [
  'commands/demo',
  'commands/replay',
  'commands/report',
  'commands/top',
  'commands/verify',
].concat(['shell/complete', 'shell/init']);
const LATER = /\bimport\('\.\.\/([\w/-]+)\.js'\)/g;
const isJoined = (path) => !apart.includes(path);
const nameOf = (path) => path.replace(/\W/g, '_');
const joinedCommands = {
  name: 'joined-commands',
  setup: ({ onLoad, onResolve }) => {
    onLoad({ filter: /\/src\/cli\/define\/[\w-]+\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(LATER, (all, target) =>
        isJoined(target) ? `import('commands').then((all) => all.${nameOf(target)})` : all,
      ),
      loader: 'ts',
    }));
    onResolve({ filter: /^commands$/ }, ({ path }) => ({ path, namespace: 'joined' }));
    onLoad({ filter: /^/, namespace: 'joined' }, async () => {
      const names = await readdir(DEFINITIONS);
      const texts = await Promise.all(names.map((name) => readFile(join(DEFINITIONS, name), 'utf8')));
      const found = texts.flatMap((text) => [...text.matchAll(LATER)].map(([, target]) => target));
      const targets = [...new Set(found)].filter(isJoined).toSorted();
      return {
        contents: [
          `import ${JSON.stringify(START)};`,
          ...targets.map((path) => `export * as ${nameOf(path)} from './${path}.js';`),
        ].join('\n'),
        resolveDir: join(SOURCE, 'cli'),
      };
    });
  },
};

// The library runs no command; what it has of the configuration does not even ask for their names.
const withoutCommands = {
  name: 'without-commands',
  setup: ({ onLoad, onResolve }) => {
    onResolve({ filter: /\/commands\.js$/ }, () => ({
      path: join(SOURCE, 'cli/commands.ts'),
      sideEffects: false,
    }));
    onResolve({ filter: /^\./ }, ({ path, kind, importer }) =>
      kind === 'dynamic-import' && importer.startsWith(DEFINITIONS) ? { path, namespace: 'none' } : undefined,
    );
    onLoad({ filter: /^/, namespace: 'none' }, () => ({ contents: '' }));
  },
};

// bundled CommonJS packages call require() for Node's own modules
const REQUIRE =
  "import { createRequire as ctxwrapRequire } from 'node:module'; const require = ctxwrapRequire(import.meta.url);\n";

const common = {
  metafile: true,
  bundle: true,
  format: 'esm',
  platform: 'node',
  mainFields: ['module', 'main'], // jsonc-parser's other form asks for its parts in a way that cannot be bundled
  target: 'node20',
  jsx: 'automatic',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  external: ['@lydell/node-pty'],
  banner: { js: REQUIRE },
};

// Ink, React and xterm.js live in chunks of their own that are loaded after the child has started
const program = {
  ...common,
  banner: {},
  entryPoints: { main: START },
  splitting: true,
  plugins: [inkAtOnce, joinedCommands, loadedLater],
  write: false,
};
// its names would be half of its size, and nobody reads them
const library = {
  ...common,
  minify: true,
  entryPoints: { library: join(SOURCE, 'cli/library.ts') },
  plugins: [withoutCommands],
};
const demoAgent = { ...common, entryPoints: { 'demo-agent': join(SOURCE, 'demo/main.ts') } };
const databaseReader = {
  ...common,
  banner: {},
  format: 'cjs',
  minify: true,
  entryPoints: { 'database-reader': join(SOURCE, 'storage/database-reader.ts') },
  outdir: '.',
  write: false,
};
const [{ text: readerProgram }] = (await build(databaseReader)).outputFiles;

const CHUNK = /"\.\/([\w-]+)\.js"/g;

const EXPORTS = /\b__export\(stdin_exports,\{([^]*?)\}\);module\.exports=__toCommonJS\(stdin_exports\);/;
const EXPORT = /([\w$]+|"[^"]*"):\(\)=>([\w$.]+)/g;

const isAssignment = (kind) => kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;

/** The variables that code changes after they were declared, by name, also those of inner scopes. */
const changedVariables = (code) => {
  const { SyntaxKind } = ts;
  const changed = new Set();
  const noteAll = (target) => {
    if (ts.isIdentifier(target)) changed.add(target.text);
    else if (!ts.isPropertyAccessExpression(target) && !ts.isElementAccessExpression(target))
      ts.forEachChild(target, noteAll);
  };
  const visit = (node) => {
    const { kind, operatorToken, operand, operator, initializer, left } = node;
    if (kind === SyntaxKind.BinaryExpression && isAssignment(operatorToken.kind)) noteAll(left);
    if (operand && (operator === SyntaxKind.PlusPlusToken || operator === SyntaxKind.MinusMinusToken))
      noteAll(operand);
    if (ts.isForInStatement(node) || ts.isForOfStatement(node))
      if (initializer.kind !== SyntaxKind.VariableDeclarationList) noteAll(initializer);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('part.js', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS));
  return changed;
};

/**
 * esbuild's exports are getters that call getters: a start would make two of them for each of a thousand names, and a hot loop would call them
 * for every character. What never changes is exported as it is, when all of it is there: parts do not import each other in circles.
 */
const plainExports = (code) => {
  const [whole, list] = EXPORTS.exec(code) ?? [];
  if (whole === undefined) return code;
  const changed = changedVariables(code);
  const matches = [...list.matchAll(EXPORT)];
  if (matches.map(([text]) => text).join() !== list)
    throw new Error(`exports that are not understood: ${list}`);
  const exported = matches.map(([, name, variable]) =>
    variable.includes('.') || changed.has(variable) // the first is a variable of another part
      ? `get ${name}(){return ${variable}}`
      : `${name}:${variable}`,
  );
  return `${code.replace(whole, '')}module.exports={${exported.join()}};`;
};

/** What esbuild is told for one of the bundles. */
const inBundle = ({ folder, define }, part) => ({
  ...part,
  outdir: folder,
  define: {
    'process.env.NODE_ENV': '"production"',
    'process.env.DEV': '"false"',
    DATABASE_READER: JSON.stringify(readerProgram),
    ...define,
    ...part.define,
  },
});

/** A chunk as CommonJS, for the launcher. */
const asCommonJs = async (code) => {
  const define = { 'import.meta.url': 'importMetaUrl' };
  const options = { format: 'cjs', platform: 'node', define, minifyWhitespace: true };
  const { code: converted } = await transform(code, options);
  return plainExports(converted);
};

/**
 * A character beyond ASCII makes V8 keep a whole file with two bytes a character. esbuild leaves it where another spelling could matter: in
 * regular expressions, where \u2026 is the same, and in tagged templates, which are text of regular expressions, or read as plain text.
 */
const inAscii = (code) =>
  code.replace(/(?<!\\)[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The parts of the program: its chunks as functions, which the launcher calls as Node calls those of CommonJS. */
const programFiles = async (bundle) => {
  const { outputFiles } = await build(inBundle(bundle, program));
  const chunks = outputFiles.map(({ path, text }) => ({ name: basename(path, '.js'), text }));
  const names = new Set(chunks.map(({ name }) => name));
  const renamed = (code) =>
    code.replace(CHUNK, (all, other) => (names.has(other) ? `"./${other}.cjs"` : all));
  const asFunction = (code) => `(function(exports,require,module,importPart,importMetaUrl){${code}\n})`;
  return Promise.all(
    chunks.map(async ({ name, text }) => {
      const code = renamed(await asCommonJs(text)).replace(/\bimport\(/g, 'importPart(');
      return { name: `${name}.cjs`, code: asFunction(inAscii(code)) };
    }),
  );
};

/** One file with all parts, and the launcher behind them, which is also a file of its own: it knows where each part is. */
const writeProgram = async (bundle) => {
  const { folder } = bundle;
  const files = await programFiles(bundle);
  const hash = createHash('sha256');
  const places = {};
  let at = 0;
  for (const { name, code } of files) {
    hash.update(`${name} ${code.length} ${code}`);
    places[name] = [at, code.length];
    at += code.length;
  }
  const name = hash.digest('hex').slice(0, 16);
  const launcher = {
    ...common,
    banner: {},
    format: 'cjs',
    entryPoints: { launcher: join(SOURCE, 'cli/launcher.ts') },
    define: { BUILD: JSON.stringify(name), PARTS: JSON.stringify(places) },
    write: false,
  };
  const [{ text }] = (await build(inBundle(bundle, launcher))).outputFiles;
  const whole = files.map(({ code }) => code).join('') + text;
  if (/[^\0-\x7f]/.test(whole)) throw new Error('a part is not ASCII: its length is not that of its bytes');
  await writeFile(`${folder}/program-${name}.cjs`, whole);
  await writeFile(`${folder}/launcher.cjs`, text);
};

/** Writes all that runs. */
const writeBundle = async (bundle) => {
  const { folder, mode } = bundle;
  await mkdir(folder, { recursive: true });
  await chmod(folder, mode);
  await writeProgram(bundle);
  await Promise.all([library, demoAgent].map((part) => build(inBundle(bundle, part))));
};

/** Puts what was built in its place, so that nobody finds a half of it, and a session in between finds its files or none. */
const putInPlace = async (folder) => {
  const old = `${folder}.old`;
  await rm(old, { recursive: true, force: true });
  await rename(folder, old).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(unfinished(folder), folder);
  await rm(old, { recursive: true, force: true });
};

for (const folder of ['dist', 'dist-fast']) await rm(unfinished(folder), { recursive: true, force: true }); // of a build that was stopped

await writeBundle(published);

// the types of the library, which name no other file
const { outputText } = ts.transpileDeclaration(await readFile(library.entryPoints.library, 'utf8'), {});
await writeFile(`${published.folder}/library.d.ts`, outputText);

// the manual page, from the definitions of the command line
const page = execFileSync(process.execPath, [`${published.folder}/launcher.cjs`, 'man']);
await writeFile(`${published.folder}/ctxwrap.1`, page);

await writeBundle(forTests);
await writeFile(`${forTests.folder}/database-reader.cjs`, readerProgram); // for tests of the source

// what the program finds around its folder, as in an installed copy
for (const name of ['agents', 'bin', 'package.json'])
  await cp(name, join(unfinished('dist-fast'), name), { recursive: true, force: true });

for (const folder of ['dist', 'dist-fast']) await putInPlace(folder);
