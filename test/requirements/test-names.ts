// The names of tests as they stand in their files, without running them.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { projectFolder, readOwn } from '../support/pages.js';
import type { Evidence } from './requirement.js';

interface TestName {
  readonly title: string;
  /** With the titles of the `describe` around it, as `vitest -t` takes it, without those that are computed. */
  readonly whole: string;
}

/** `it`, `each` of `it.each(…)(…)`. */
const wordsOf = (expression: ts.Expression): readonly string[] => {
  if (ts.isIdentifier(expression)) return [expression.text];
  if (ts.isTaggedTemplateExpression(expression)) return wordsOf(expression.tag);
  if (ts.isPropertyAccessExpression(expression))
    return [...wordsOf(expression.expression), expression.name.text];
  return ts.isCallExpression(expression) ? wordsOf(expression.expression) : [];
};

/** A test that is never run shows nothing. */
const isOff = (words: readonly string[]): boolean => words.includes('skip') || words.includes('todo');

/** A title as it is written, with its placeholders. `''` for one that is computed. */
const titleOf = (argument: ts.Node | undefined, file: ts.SourceFile): string => {
  if (argument === undefined) return '';
  if (ts.isStringLiteralLike(argument)) return argument.text;
  return ts.isTemplateExpression(argument) ? argument.getText(file).slice(1, -1) : '';
};

const namesBelow = (node: ts.Node, around: readonly string[], file: ts.SourceFile): readonly TestName[] => {
  const words = ts.isCallExpression(node) ? wordsOf(node.expression) : [];
  if (isOff(words)) return [];
  const title = ts.isCallExpression(node) ? titleOf(node.arguments[0], file) : '';
  const isTest = (words[0] === 'it' || words[0] === 'test') && title !== '';
  const isGroup = words[0] === 'describe' && title !== '' && !title.includes('${');
  const within = isGroup ? [...around, title] : around;
  const found: TestName[] = isTest ? [{ title, whole: [...around, title].join(' ') }] : [];
  node.forEachChild((child) => {
    found.push(...namesBelow(child, within, file));
  });
  return found;
};

const known = new Map<string, readonly TestName[]>();

/** The tests of a file below `test/`; none of one that is not there. */
const testNames = (file: string): readonly TestName[] => {
  const path = `test/${file}`;
  if (!existsSync(join(projectFolder, path))) return [];
  const parsed = (): readonly TestName[] => {
    const tree = ts.createSourceFile(file, readOwn(path), ts.ScriptTarget.Latest);
    return namesBelow(tree, [], tree);
  };
  const names = known.get(file) ?? parsed();
  known.set(file, names);
  return names;
};

/** The whole names that a piece of evidence may mean: one, where it is right. */
export const namesOf = ([file, title]: Evidence): readonly string[] => [
  ...new Set(
    testNames(file)
      .filter((name) => name.title === title || name.whole === title)
      .map(({ whole }) => whole),
  ),
];
