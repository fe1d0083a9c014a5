import type { CallsWithin, InnerCall } from '../entries.js';
import {
  isAt,
  part,
  passes,
  takeBrackets,
  takePattern,
  tokenAt,
  type Cursor,
  wholeOf,
  wordAt,
  tokensOf,
  type Token,
} from './script-tokens.js';
import {
  entriesOf,
  fieldsIn,
  choiceOf,
  formsOf,
  isCallable,
  isList,
  jsonOf,
  memberOf,
  methodOf,
  sumOf,
  stringOf,
  type Callable,
  type Term,
  type Value,
} from './script-values.js';

// Codex's code mode: the model gets one tool `exec`, whose input is a script in JavaScript that calls the others: `await
// tools.exec_command({cmd: "ls"})`. The script is read, never run: the reader finds the arguments by following its names, strings, lists,
// loops over known lists and its own functions, everything else is unknown. Bounded, because a script can be anything.

// Bounds of one script.
const LONGEST_SCRIPT = 2_000_000; // characters
const MOST_STEPS = 300_000;
const MOST_CALLS = 1_000;
const MOST_CHARACTERS = 4_000_000; // of all texts that are put together
const DEEPEST = 60;

/**
 * The calls of tools in a script of code mode, in its order, those in a loop over a known list as often as it runs, and as if each branch were
 * taken, also of a choice in an argument. Of an argument what is unknown is left out; in a text it is `${…}`. Never throws.
 */
export const callsInScript = (script: string): CallsWithin => {
  const { tokens, isBroken } = tokensOf(script.slice(0, LONGEST_SCRIPT));
  const isCut = script.length > LONGEST_SCRIPT;
  const run: Run = { script, calls: [], steps: 0, room: MOST_CHARACTERS, depth: 0, isCut };
  const scope: Scope = { values: new Map([['tools', { kind: 'tool', name: '' }]]) };
  walk(run, wholeOf(tokens), scope);
  return { calls: run.calls, isWhole: !run.isCut && !isBroken };
};

/** Names with their known values; changed in place. */
interface Scope {
  readonly values: Map<string, Value>;
  readonly outer?: Scope;
}

/** One reading of a script; changed in place. */
interface Run {
  readonly script: string;
  readonly calls: InnerCall[];
  steps: number;
  /** characters that may still be put together */
  room: number;
  depth: number;
  isCut: boolean;
}

/** Whether there is a next token, and steps are left. */
const goesOn = (run: Run, cursor: Cursor): boolean => {
  if (++run.steps > MOST_STEPS) run.isCut = true;
  return !run.isCut && cursor.at < cursor.to;
};

// Statements.

/** The value of its last `return`. */
const walk = (run: Run, cursor: Cursor, scope: Scope): Value => {
  let returned: Value;
  while (goesOn(run, cursor)) {
    const { at } = cursor;
    returned = statement(run, cursor, scope) ?? returned;
    if (cursor.at === at) cursor.at += 1;
  }
  return returned;
};

const statement = (run: Run, cursor: Cursor, scope: Scope): Value =>
  deeper(run, () => readStatement(run, cursor, scope));

/** Reads one nesting level deeper, up to a limit. */
const deeper = (run: Run, read: () => Value): Value => {
  if (run.depth >= DEEPEST) run.isCut = true;
  if (run.isCut) return undefined;
  run.depth += 1;
  const value = read();
  run.depth -= 1;
  return value;
};

const readStatement = (run: Run, cursor: Cursor, scope: Scope): Value => {
  const ahead = wordAt(cursor) === 'async' ? 1 : 0;
  const declared = wordAt(cursor, ahead) === 'function' ? wordAt(cursor, ahead + 1) : undefined;
  if (declared !== undefined) return void scope.values.set(declared, functionAt(run, cursor, scope));
  switch (wordAt(cursor)) {
    case 'const':
    case 'let':
    case 'var':
      cursor.at += 1;
      return declare(run, cursor, scope);
    case 'for':
      return loop(run, cursor, scope);
    case 'import':
      return imported(cursor, scope);
    case 'return':
      cursor.at += 1;
      return expression(run, cursor, scope);
    default:
  }
  if (isAt(cursor, '{')) return walk(run, takeBrackets(cursor), { values: new Map(), outer: scope });
  if (isAt(cursor, '=', 1) || isAt(cursor, '+=', 1)) assign(run, cursor, scope);
  else expression(run, cursor, scope);
  return undefined;
};

const declare = (run: Run, cursor: Cursor, scope: Scope): undefined => {
  do {
    const pattern = takePattern(cursor);
    bind(run, pattern, passes(cursor, '=') ? expression(run, cursor, scope) : undefined, scope);
  } while (goesOn(run, cursor) && passes(cursor, ','));
};

const assign = (run: Run, cursor: Cursor, scope: Scope): void => {
  const name = wordAt(cursor) ?? '';
  const isSum = isAt(cursor, '+=', 1);
  cursor.at += 2;
  const from = cursor.at;
  const value = expression(run, cursor, scope);
  const holder = holderOf(scope, name);
  if (!holder) return;
  const known = holder.values.get(name);
  holder.values.set(
    name,
    isSum
      ? added(run, { value: known, source: name }, { value, source: sourceOf(run, cursor, from) })
      : value,
  );
};

/** `for (const each of list)` for each of a known list, once for an unknown one; other loops once. */
const loop = (run: Run, cursor: Cursor, scope: Scope): Value => {
  cursor.at += isAt(cursor, 'await', 1, 'word') ? 2 : 1;
  if (!isAt(cursor, '(')) return undefined;
  const head = takeBrackets(cursor);
  if (/^(?:const|let|var)$/.test(wordAt(head) ?? '')) head.at += 1;
  const pattern = takePattern(head);
  if (wordAt(head) !== 'of') return walk(run, part(head, pattern.at, head.to), scope);
  head.at += 1;
  const list = expression(run, head, scope);
  const body = cursor.at;
  let returned: Value;
  for (const each of isList(list) && list.length > 0 ? [...list] : [undefined]) {
    if (run.isCut) break;
    const inner: Scope = { values: new Map(), outer: scope };
    cursor.at = body;
    bind(run, part(pattern, pattern.at, pattern.to), each, inner);
    returned = statement(run, cursor, inner) ?? returned;
  }
  return returned;
};

/** `import { exec_command as run } from "tools.js"` */
const imported = (cursor: Cursor, scope: Scope): undefined => {
  cursor.at += 1;
  if (!isAt(cursor, '{')) return;
  const names = takeBrackets(cursor);
  const from = tokenAt(cursor, 1);
  if (from?.kind !== 'string' || !from.text.includes('tools')) return;
  for (; names.at < names.to; names.at += 1) {
    const name = wordAt(names);
    if (name === undefined) continue;
    const alias = wordAt(names, 1) === 'as' ? wordAt(names, 2) : undefined;
    scope.values.set(alias ?? name, { kind: 'tool', name });
    if (alias !== undefined) names.at += 2;
  }
};

/** Gives the names of a pattern their parts of a value. */
const bind = (run: Run, pattern: Cursor, value: Value, scope: Scope): void => {
  const isList = isAt(pattern, '[');
  if (!isList && !isAt(pattern, '{')) {
    const name = wordAt(pattern);
    if (name !== undefined) scope.values.set(name, value);
    return;
  }
  const valueOf = (name: string, index: number): Value => memberOf(value, isList ? index : name);
  deeper(run, () => void bindAll(run, takeBrackets(pattern), valueOf, scope));
};

/** Names or patterns between commas, each perhaps with a default; those of an object perhaps with another name. */
const bindAll = (
  run: Run,
  names: Cursor,
  valueOf: (name: string, index: number) => Value,
  scope: Scope,
): void => {
  for (let index = 0; goesOn(run, names); index += 1) {
    passes(names, '...');
    const name = wordAt(names) ?? '';
    if (isAt(names, ':', 1)) names.at += 2;
    const pattern = isAt(names, ',') ? part(names, 0, 0) : takePattern(names);
    const given = valueOf(name, index);
    const usual = passes(names, '=') ? expression(run, names, scope) : undefined;
    bind(run, pattern, given === undefined ? usual : given, scope);
    while (names.at < names.to && !isAt(names, ',')) names.at += 1;
    names.at += 1;
  }
};

// Expressions. Each function leaves the cursor behind the expression.

const expression = (run: Run, cursor: Cursor, scope: Scope): Value =>
  deeper(run, () => readExpression(run, cursor, scope));

const readExpression = (run: Run, cursor: Cursor, scope: Scope): Value => {
  const from = cursor.at;
  let value = operand(run, cursor, scope);
  while (goesOn(run, cursor)) {
    const token = tokenAt(cursor);
    const operator = token?.kind === 'mark' || token?.kind === 'word' ? token.text : '';
    if (!BINARY.test(operator)) break;
    const left = sourceOf(run, cursor, from);
    cursor.at += 1;
    const start = cursor.at;
    if (operator === '?') {
      const yes = expression(run, cursor, scope);
      const no = passes(cursor, ':') ? expression(run, cursor, scope) : undefined;
      value = choiceOf(yes, no);
      continue;
    }
    const right = operand(run, cursor, scope);
    if (operator === '+')
      value = added(run, { value, source: left }, { value: right, source: sourceOf(run, cursor, start) });
    else if (operator !== '||' && operator !== '??') value = undefined;
  }
  return value;
};

const BINARY = /^(?:\?\??|\|\|?|&&?|[+*/%^<>-]|[=!<>+*/%&|^-]=+|=|instanceof)$/;

const sourceOf = ({ script }: Run, { tokens, at }: Cursor, from: number): string =>
  script.slice(tokens[from]?.start ?? 0, tokens[at - 1]?.end ?? 0).slice(0, LONGEST_SOURCE);

const LONGEST_SOURCE = 80; // characters of an expression in a text

/** The sum; unknown texts in it become `${…}`. */
const added = (run: Run, left: Term, right: Term): Value => charged(run, sumOf(left, right));

const charged = (run: Run, value: Value): Value => {
  run.room -= typeof value === 'string' ? value.length : 0;
  if (run.room < 0) run.isCut = true;
  return run.isCut ? undefined : value;
};

const PREFIX = /^(?:await|new|typeof|void|delete|yield|throw)$/;

const operand = (run: Run, cursor: Cursor, scope: Scope): Value => {
  while (goesOn(run, cursor)) {
    const token = tokenAt(cursor);
    const isPrefix =
      token?.kind === 'mark' ? /^(?:!|-|\+|~|\.\.\.)$/.test(token.text) : PREFIX.test(wordAt(cursor) ?? '');
    if (!isPrefix) break;
    cursor.at += 1;
  }
  return continued(run, cursor, scope, primary(run, cursor, scope));
};

const primary = (run: Run, cursor: Cursor, scope: Scope): Value => {
  const token = tokenAt(cursor);
  if (!token || run.isCut) return undefined;
  const written = functionAt(run, cursor, scope);
  if (written) return written;
  switch (token.kind) {
    case 'string':
      cursor.at += 1;
      return charged(run, token.text);
    case 'template':
      cursor.at += 1;
      return filled(run, token, scope);
    case 'word':
      cursor.at += 1;
      return wordValue(token.text, scope);
    case 'mark':
      if (token.text === '(') return items(run, takeBrackets(cursor), scope).at(-1);
      if (token.text === '[') return items(run, takeBrackets(cursor), scope);
      return token.text === '{' ? fields(run, takeBrackets(cursor), scope) : undefined;
  }
};

const CONSTANTS: Readonly<Record<string, Value>> = { true: true, false: false, null: null };

const wordValue = (word: string, scope: Scope): Value => {
  if (/^\d/.test(word)) return Number(word.replaceAll('_', ''));
  return Object.hasOwn(CONSTANTS, word) ? CONSTANTS[word] : holderOf(scope, word)?.values.get(word);
};

const holderOf = (scope: Scope, name: string): Scope | undefined => {
  for (let each: Scope | undefined = scope; each; each = each.outer) if (each.values.has(name)) return each;
  return undefined;
};

/** The text of a template; `${…}` for what is not known. */
const filled = (run: Run, { parts }: Extract<Token, { kind: 'template' }>, scope: Scope): Value => {
  let text = '';
  for (const each of parts) {
    if (typeof each === 'string') text += each;
    else {
      const value = expression(run, wholeOf(each.tokens), scope);
      text += stringOf(value) ?? `\${${each.source.slice(0, LONGEST_SOURCE)}}`;
    }
    if (text.length > run.room) run.isCut = true;
    if (run.isCut) return undefined;
  }
  return charged(run, text);
};

const FIELD_COST = 20; // characters

/** Charges an operation for the size of the value it copies; false if the script's allowance is used up. */
const pays = (run: Run, value: Value): boolean => {
  const items = isList(value) ? value.length : fieldsIn(value).size;
  run.room -= typeof value === 'string' ? value.length : items * FIELD_COST;
  if (run.room < 0) run.isCut = true;
  return !run.isCut;
};

/** The values between commas; a spread list adds its items. */
const items = (run: Run, cursor: Cursor, scope: Scope): Value[] => {
  const values: Value[] = [];
  while (goesOn(run, cursor)) {
    const isSpread = passes(cursor, '...');
    const value = expression(run, cursor, scope);
    if (isSpread && isList(value)) {
      if (value.length > MOST_CALLS) run.isCut = true;
      else values.push(...value);
    } else values.push(value);
    skipTo(run, cursor, scope, ',');
  }
  return values;
};

/** Moves behind the next mark of this kind and reads anything unexpected before it. */
const skipTo = (run: Run, cursor: Cursor, scope: Scope, mark: string): void => {
  while (goesOn(run, cursor) && !isAt(cursor, mark)) {
    const { at } = cursor;
    expression(run, cursor, scope);
    if (cursor.at === at) cursor.at += 1;
  }
  cursor.at += 1;
};

const fields = (run: Run, cursor: Cursor, scope: Scope): Value => {
  const values = new Map<string, Value>();
  while (goesOn(run, cursor)) {
    const isSpread = passes(cursor, '...');
    const token = tokenAt(cursor);
    const name = token?.kind === 'word' || token?.kind === 'string' ? token.text : undefined;
    if (!isSpread && name !== undefined && isAt(cursor, ':', 1)) {
      cursor.at += 2;
      values.set(name, expression(run, cursor, scope));
    } else {
      const value = expression(run, cursor, scope);
      if (isSpread && pays(run, value)) for (const [key, each] of fieldsIn(value)) values.set(key, each);
      else if (name !== undefined) values.set(name, value);
    }
    skipTo(run, cursor, scope, ',');
  }
  return { kind: 'fields', values };
};

// Functions.

/** The function that begins at the cursor, which moves behind it; undefined, unmoved, if none does. */
const functionAt = (run: Run, cursor: Cursor, scope: Scope): Value => {
  const start = cursor.at;
  if (isAt(cursor, 'async', 0, 'word')) cursor.at += 1;
  const isNamed = isAt(cursor, 'function', 0, 'word');
  if (isNamed) {
    cursor.at += isAt(cursor, '*', 1) ? 2 : 1;
    if (!isAt(cursor, '(')) cursor.at += 1; // its name
  }
  const params = isAt(cursor, '(') ? takeBrackets(cursor) : isNamed ? undefined : takePattern(cursor);
  if (!params || !(isNamed ? isAt(cursor, '{') : passes(cursor, '=>'))) {
    cursor.at = start;
    return undefined;
  }
  const isBlock = isAt(cursor, '{');
  const body = isBlock ? takeBrackets(cursor) : takeBody(run, cursor);
  return { kind: 'function', call: (args) => applied(run, { params, body, isBlock, scope }, args) };
};

/** The expression behind an arrow: to the next comma, semicolon or statement that is not in brackets. */
const takeBody = ({ script }: Run, cursor: Cursor): Cursor => {
  const { at } = cursor;
  while (cursor.at < cursor.to && !isAt(cursor, ',') && !isAt(cursor, ';')) {
    const [before, token] = [cursor.tokens[cursor.at - 1], tokenAt(cursor)];
    const isNext =
      cursor.at > at &&
      token?.kind === 'word' &&
      (before?.kind !== 'mark' || /^[)\]}]$/.test(before.text)) &&
      script.slice(before?.end, token.start).includes('\n');
    if (isNext) break;
    if (isAt(cursor, '(') || isAt(cursor, '[') || isAt(cursor, '{')) takeBrackets(cursor);
    else cursor.at += 1;
  }
  return part(cursor, at, cursor.at);
};

interface Written {
  readonly params: Cursor;
  readonly body: Cursor;
  readonly isBlock: boolean;
  readonly scope: Scope;
}

const applied = (
  run: Run,
  { params, body, isBlock, scope: outer }: Written,
  args: readonly Value[],
): Value => {
  const scope: Scope = { values: new Map(), outer };
  bindAll(run, part(params, params.at, params.to), (_, index) => args[index], scope);
  const read = isBlock ? walk : expression;
  return deeper(run, () => read(run, part(body, body.at, body.to), scope));
};

// What follows a value: its members, its calls.

const continued = (run: Run, cursor: Cursor, scope: Scope, first: Value): Value => {
  let [value, owner, name]: [Value, Value, string] = [first, undefined, ''];
  while (goesOn(run, cursor)) {
    if (isAt(cursor, '(')) {
      const args = items(run, takeBrackets(cursor), scope);
      value = called(run, { value, owner, name }, args);
      owner = undefined;
    } else if (isAt(cursor, '[')) {
      const [index] = items(run, takeBrackets(cursor), scope).slice(-1);
      [owner, name] = [value, String(stringOf(index) ?? '')];
      value = memberOf(value, typeof index === 'number' ? index : name);
    } else if (tokenAt(cursor)?.kind === 'template' && name === 'raw') {
      const { start, end } = tokenAt(cursor) ?? { start: 0, end: 0 };
      value = charged(run, run.script.slice(start + 1, end - 1));
      cursor.at += 1;
    } else if (passes(cursor, '?.') || passes(cursor, '.')) {
      const member = wordAt(cursor);
      if (member === undefined) continue;
      cursor.at += 1;
      [owner, name] = [value, member];
      value = memberOf(value, member);
    } else break;
  }
  return value;
};

interface Callee {
  readonly value: Value;
  /** what it is a member of, and its name there */
  readonly owner: Value;
  readonly name: string;
}

const called = (run: Run, { value, owner, name }: Callee, args: readonly Value[]): Value => {
  const [first] = args;
  if (isCallable(value)) return callOf(run, value, args);
  if (isList(owner) && isCallable(first)) {
    const results = owner.map((each, index) => (run.isCut ? undefined : callOf(run, first, [each, index])));
    return name === 'filter' ? owner : name === 'map' || name === 'flatMap' ? results : undefined;
  }
  if (name === 'all' || name === 'allSettled') return first; // of Promise
  if (name === 'entries') return pays(run, first) ? entriesOf(first) : undefined;
  // it may call the functions it gets
  for (const each of args) if (isCallable(each)) callOf(run, each, []);
  return pays(run, owner) ? charged(run, methodOf(owner, name, args, run.room)) : undefined;
};

const callOf = (run: Run, value: Callable, args: readonly Value[]): Value => {
  if (value.kind === 'function') return value.call(args);
  if (value.name === '') return undefined;
  for (const form of formsOf(args[0])) {
    const input = jsonOf(form, run);
    if (run.calls.length >= MOST_CALLS || run.room < 0) run.isCut = true;
    else run.calls.push({ name: value.name, input });
  }
  return undefined;
};
