// Codex's code mode: what the scripts call is read from them, and nothing of them is run.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codex } from '../../src/agents/codex/agent.js';
import { callsInScript } from '../../src/agents/codex/code-mode.js';
import { evidenceIn, notUnderstoodIn } from '../../src/core/conversation/conversation-evidence.js';
import type { Conversation } from '../../src/core/conversation/conversation.js';
import {
  codeModeSession,
  CWD,
  head,
  patched,
  patchOf,
  printed,
  rolloutOf,
  script,
} from '../support/code-mode-session.js';
import { readConversation } from '../support/read-log.js';
import { runs } from '../support/runs.js';

const commandsIn = (text: string): readonly unknown[] =>
  callsInScript(text).calls.map(({ input }) => (input as { readonly cmd?: unknown } | undefined)?.cmd);

describe('a script of code mode', () => {
  it.each([
    [
      'a text',
      `const r = await tools.exec_command({cmd:"npm test","workdir":"/a"}); text(r.output)`,
      ['npm test'],
    ],
    ['a text in single quotes', `await tools.exec_command({'cmd': 'it\\'s'})`, ["it's"]],
    ['a template', 'await tools.exec_command({ cmd: `a\n"b"` })', ['a\n"b"']],
    ['a text of parts', `tools.exec_command({cmd: "git " + 'log' + \` -\${1 + 1}\`})`, ['git log -2']],
    [
      'escapes',
      String.raw`tools.exec_command({cmd: "a\tb\x21\u0041\u{1f600}\
c"})`,
      ['a\tb!A😀c'],
    ],
    ['a raw template', 'tools.exec_command({cmd: String.raw`grep "\\d"`})', ['grep "\\d"']],
    ['a name', 'const cmd = "ls"; let opts = {workdir: "/"}; tools.exec_command({cmd, ...opts})', ['ls']],
    ['a name that changes', 'let c = "a"; c += " b"; tools.exec_command({cmd: c})', ['a b']],
    [
      'a choice',
      'tools.exec_command({workdir: "/", cmd: all ? "npm test" : one ? "npm t" : name})',
      ['npm test', 'npm t'],
    ],
    ['a choice by name', 'const cmd = fast ? "a" : "b"; tools.exec_command({cmd})', ['a', 'b']],
    [
      'a choice in a text',
      'tools.exec_command({cmd: "npm " + (ci ? "ci" : "i")})',
      ['npm ${(ci ? "ci" : "i")}'],
    ],
    ['a list', 'tools.exec_command({cmd: ["git", "log"].join(" ")})', ['git log']],
    [
      'several calls',
      'await Promise.all([tools.exec_command({cmd:"a"}), tools.exec_command({cmd:"b"})])',
      ['a', 'b'],
    ],
    [
      'a loop',
      'for (const each of ["a", "b"]) { await tools.exec_command({cmd: `run ${each}`}); }',
      ['run a', 'run b'],
    ],
    [
      'a loop over pairs',
      'for (const [n, cmd] of [["x", "a"], ["y", "b"]]) tools.exec_command({cmd})',
      ['a', 'b'],
    ],
    [
      'a list of them',
      'const all = [{c: "a"}, {c: "b"}]; await Promise.all(all.map(async ({c: cmd}) => await tools.exec_command({cmd})))',
      ['a', 'b'],
    ],
    [
      'a function',
      'const sh = (cmd, dir = ".") => tools.exec_command({cmd: `cd ${dir} && ${cmd}`}); sh("a"); sh("b", "/c")',
      ['cd . && a', 'cd /c && b'],
    ],
    [
      'a declared function',
      'async function sh(cmd) { return await tools.exec_command({cmd}) }\nawait sh("a")',
      ['a'],
    ],
    [
      'a function without semicolons',
      'const q = s => "\'" + s + "\'"\ntools.exec_command({cmd: "echo " + q("a")})',
      ["echo 'a'"],
    ],
    [
      'a quoted text',
      'const q = (s) => "\'" + s.replaceAll("\'", "?") + "\'"; tools.exec_command({cmd: `echo ${q("it\'s")}`})',
      ["echo 'it?s'"],
    ],
    [
      'another name of the tool',
      'const {exec_command: sh} = tools; sh({cmd: "a"}); tools["exec_command"]({cmd: "b"})',
      ['a', 'b'],
    ],
    ['an import', 'import { exec_command as sh } from "tools.js";\nawait sh({cmd: "a"})', ['a']],
    [
      'a branch',
      'if (ok) { await tools.exec_command({cmd: "a"}) } else await tools.exec_command({cmd: "b"})',
      ['a', 'b'],
    ],
    [
      'comments',
      '// tools.exec_command({cmd: "no"})\ntools.exec_command(/* "no" */ {cmd: "a" /* , */})',
      ['a'],
    ],
    ['patterns', 'if (/["\'`{(\\/[/]/.test(x)) tools.exec_command({cmd: "a"})', ['a']],
    ['a nested template', 'tools.exec_command({cmd: `a ${`b ${"c"}`} }`})', ['a b c }']],
    ['a division', 'const n = 4 / 2; const m = n / 1; tools.exec_command({cmd: "a"})', ['a']],
  ])('is read for the commands in %s', (_, text, commands) => {
    expect(callsInScript(text).isWhole).toBe(true);
    expect(commandsIn(text)).toEqual(commands);
  });

  it('that chooses between choices again and again has as many calls as there are commands', () => {
    const lines = Array.from({ length: 40 }, () => 'x = a ? x : x; y = {cmd: a ? y.cmd : x};').join('\n');
    const text = `let x = a ? "one" : "two"; let y = {cmd: x};\n${lines}`;
    expect(commandsIn(`${text}\nawait tools.exec_command({cmd: x});`)).toEqual(['one', 'two']);
    expect(commandsIn(`${text}\nawait tools.exec_command(y);`)).toEqual(['one', 'two']);
  });

  it('has no calls in its texts, its comments, and functions that it never calls', () => {
    const text =
      'const s = "tools.exec_command({cmd: 1})"; const f = () => tools.exec_command({cmd: "a"}); text(ALL_TOOLS)';
    expect(callsInScript(text)).toEqual({ calls: [], isWhole: true });
  });

  it('leaves what is not known as it is written in a text, and out elsewhere', () => {
    expect(commandsIn('const r = await f(); tools.exec_command({cmd: `kill ${r.pid}` + r.rest})')).toEqual([
      'kill ${r.pid}${r.rest}',
    ]);
    expect(callsInScript('tools.exec_command({cmd: make(), workdir: "/a"})').calls).toEqual([
      { name: 'exec_command', input: { workdir: '/a' } },
    ]);
  });

  it('has the plan as it was given', () => {
    const plan = [
      { step: 'look', status: 'completed' },
      { step: 'fix', status: 'pending' },
    ];
    expect(
      callsInScript(`const r = await tools.update_plan({plan: ${JSON.stringify(plan)}}); text(r)`).calls,
    ).toEqual([{ name: 'update_plan', input: { plan } }]);
  });

  const long = 300_000;
  it.each([
    ['a text', '"'.padEnd(long, 'a')],
    ['a text of backslashes', '"'.padEnd(long, '\\')],
    ['a comment', '/*'.padEnd(long, 'a')],
    ['templates in templates', 'tools.x(' + '`${'.repeat(long)],
    ['brackets', 'tools.x(' + '(['.repeat(long)],
    ['blocks', '{'.repeat(long)],
    ['loops', 'for (const a of [1, 2]) '.repeat(10_000)],
    [
      'loops in loops',
      `let a = [${'1,'.repeat(100)}];` + 'a.map(() => '.repeat(9) + 'tools.x(1)' + ')'.repeat(9),
    ],
    ['a function that calls itself', 'const f = () => { f(); f() }; f()'],
    ['texts that grow', 'let a = "aaaaaaaaaa";' + 'a = a + a;'.repeat(99) + 'tools.x(a)'],
    ['lists that grow', 'let a = ["a"];' + 'a = [...a, ...a];'.repeat(99) + 'tools.x(a)'],
    ['lists in lists', 'let a = ["a"];' + 'a = [a, a, a];'.repeat(99) + 'tools.x(a)'],
    ['a deep list', 'let a = [];' + 'a = [a];'.repeat(50_000) + 'tools.x(a)'],
    [
      'a long text that is searched again and again',
      `const s = "${'a'.repeat(200_000)}";` + 's.replaceAll("a", "");'.repeat(20_000),
    ],
    [
      'many fields that are listed again and again',
      `const o = {${Array.from({ length: 20_000 }, (_, at) => `a${at}: 1`).join(',')}};` +
        'Object.entries(o); x = {...o};'.repeat(20_000),
    ],
    ['a slash that divides, taken for a pattern', 'a++ / 2; tools.x("b")'],
    ['sums', 'tools.x(' + '"a" + '.repeat(200_000) + '"b")'],
  ])('with %s without an end is given up, and says so', (_, text) => {
    const { calls, isWhole } = callsInScript(text);
    expect(isWhole).toBe(false);
    expect(JSON.stringify(calls).length).toBeLessThan(10_000_000);
  });

  it('may go on with a text in the next line, however lines end', () => {
    for (const end of ['\n', '\r\n'])
      expect(callsInScript(`tools.exec_command({cmd: "npm \\${end}test"})`)).toMatchObject({
        calls: [{ input: { cmd: 'npm test' } }],
        isWhole: true,
      });
  });

  it('of anything is read without a fault', () => {
    const pieces = [
      'tools.exec_command(',
      '{cmd:',
      '"a"',
      '}',
      ')',
      ';',
      '`',
      '${',
      'const ',
      'a',
      '=',
      '=>',
      '(',
      '[',
      ']',
      ',',
      '+',
      '...',
      'for (const a of [1,2])',
      'function ',
      '/',
      '\\',
      "'",
      '\n',
      '//',
      '/*',
      '*/',
      '.map(',
      'return ',
      '?',
      ':',
      'async ',
      'import {',
      'let {a: [b]',
      '.',
      '?.',
      'tools',
    ];
    const anyScript = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(anyScript, (text) => {
        expect(callsInScript(text).calls.every(({ name }) => name !== '')).toBe(true);
      }),
      runs(300),
    );
  });
});

const read = (lines: readonly string[]): Conversation => readConversation(codex, lines);

const evidenceOf = (lines: readonly string[], kind: string): readonly string[] =>
  evidenceIn(read(lines).entries, CWD).flatMap((item) => (item.kind === kind ? [item.text] : []));

describe('a session of Codex in code mode', () => {
  it('has the commands of its scripts and the files that its patches have changed', () => {
    const commands = read(codeModeSession).entries.flatMap((entry) =>
      entry.kind === 'call' ? (entry.commands ?? []) : [],
    );
    expect(commands).toEqual(['cargo test', 'cargo fmt', 'cargo clippy', 'ls']);
    expect(evidenceOf(codeModeSession, 'command')).toEqual(['cargo test', 'cargo clippy']);
    expect(evidenceOf(codeModeSession, 'path')).toEqual(['src/a.rs', 'src/old.rs', 'src/new.rs']);
  });

  it('says which tools are not understood, and where a script could not be read to its end', () => {
    expect(notUnderstoodIn(read(codeModeSession).entries)).toEqual([
      { tool: 'mcp__tracker__close', calls: 2 },
      { tool: 'exec', calls: 1 },
    ]);
  });

  const applies = (id: string, ...files: readonly string[]) =>
    script(id, `text(await tools.apply_patch(${JSON.stringify(patchOf(...files))}))`);

  it('takes the files of a patch from its script where nothing tells how it ended', () => {
    expect(evidenceOf(rolloutOf([head, applies('c1', 'a.rs'), printed('c1')]), 'path')).toEqual(['a.rs']);
  });

  it('does not count a patch that failed', () => {
    const failed = rolloutOf([
      head,
      applies('c1', 'a.rs'),
      patched('exec-1', { 'a.rs': {} }, false),
      printed('c1'),
    ]);
    expect(evidenceOf(failed, 'path')).toEqual([]);
    const unfit = rolloutOf([head, applies('c1', 'a.rs'), printed('c1', 'Script failed\nOutput:\n')]);
    expect(evidenceOf(unfit, 'path')).toEqual([]);
  });

  it('counts a patch that was made before its script failed', () => {
    const half = rolloutOf([
      head,
      applies('c1', 'a.rs', 'b.rs'),
      patched('exec-1', { '/tmp/app/a.rs': { type: 'update' } }),
      printed('c1', 'Script failed\nOutput:\n'),
    ]);
    expect(evidenceOf(half, 'path')).toEqual(['a.rs']);
  });

  it('counts a patch that is made while it waits for a script', () => {
    const wait = (id: string) =>
      [
        'response_item',
        { type: 'function_call', name: 'wait', call_id: id, arguments: '{"cell_id":"1"}' },
      ] as const;
    const slow = rolloutOf([
      head,
      script('c1', 'const p = await load(); text(await tools.apply_patch(p))'),
      printed('c1', 'Script running with cell ID 1'),
      wait('c2'),
      patched('exec-1', { '/tmp/app/a.rs': { type: 'add' } }),
      ['response_item', { type: 'function_call_output', call_id: 'c2', output: 'Script completed' }],
    ]);
    expect(evidenceOf(slow, 'path')).toEqual(['a.rs']);
  });

  it('keeps the outcome of each of two patches at one time', () => {
    const direct = (id: string, file: string) =>
      [
        'response_item',
        { type: 'custom_tool_call', call_id: id, name: 'apply_patch', input: patchOf(file) },
      ] as const;
    const both = rolloutOf([
      head,
      direct('call_1', 'a.rs'),
      direct('call_2', 'b.rs'),
      patched('call_2', {}, false),
      patched('call_1', { '/tmp/app/a.rs': { type: 'update' } }),
      printed('call_1', 'Success.'),
      printed('call_2', 'Failed.'),
    ]);
    expect(evidenceOf(both, 'path')).toEqual(['a.rs']);
  });
});
