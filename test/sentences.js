// Lists every sentence that a user can meet, to be read as a whole: `npm run docs:sentences`, or with folders of src to see only those. The
// program's own come from string and template literals of at least two words, an inserted value as `{}`; those of the docs are their headings.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const source = join(root, 'src');

const filesBelow = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
    .toSorted();

/** Letters with a blank before more of them; no SQL, no code of a shell and no escape sequence. */
const isSentence = (text) =>
  /[a-z]{2,}[,;:.…]? (?:\S+ )*["'(]*[\p{L}{]/iu.test(text) &&
  !/^\s*(?:SELECT|WITH|PRAGMA|INSERT|FROM|WHERE|CREATE) /.test(text) &&
  !/\x1b|\$\{?[A-Z_]{3,}|<\/|[{;]\s*$/.test(text);

const textOf = (node) => {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateExpression(node))
    return node.head.text + node.templateSpans.map(({ literal }) => `{}${literal.text}`).join('');
  return undefined;
};

const isNoText = ({ parent }) =>
  ts.isImportDeclaration(parent) || ts.isExportDeclaration(parent) || ts.isLiteralTypeNode(parent);

/** The sentences of one file, each once, in its order. */
const sentencesOf = (path) => {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  const found = new Set();
  const visit = (node) => {
    const text = textOf(node);
    if (text !== undefined && !isNoText(node) && isSentence(text)) found.add(text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found];
};

const headingsOf = (path) =>
  readFileSync(path, 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .split('\n')
    .filter((line) => /^#{1,6} /.test(line));

const write = (path, sentences) => {
  if (sentences.length === 0) return;
  const rows = sentences.map((each) => `  ${each.trim().replaceAll('\n', '\n    ')}`);
  process.stdout.write(`${relative(root, path)}\n${rows.join('\n')}\n\n`);
};

const wanted = process.argv.slice(2);
const folders = wanted.length > 0 ? wanted.map((each) => join(source, each)) : [source];
for (const folder of folders)
  for (const path of filesBelow(folder, /\.tsx?$/)) write(path, sentencesOf(path));
if (wanted.length === 0)
  for (const path of [join(root, 'README.md'), ...filesBelow(join(root, 'docs'), /\.md$/)])
    write(path, headingsOf(path));
