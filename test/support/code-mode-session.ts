// A rollout of Codex in code mode, in the shapes of real ones: every tool is called by a script that is the input of `exec`.

export const CWD = '/tmp/app';

/** The records of a rollout, a line each. */
export const rolloutOf = (
  records: readonly (readonly [type: string, payload: object])[],
): readonly string[] =>
  records.map(([type, payload], index) => {
    const timestamp = new Date(Date.UTC(2026, 6, 15, 20, 40, index)).toISOString();
    return JSON.stringify({ timestamp, type, payload });
  });

export const head = [
  'session_meta',
  { id: '019f6782-0000-7000-8000-000000000001', cwd: CWD, cli_version: '0.144.5', source: 'cli' },
] as const;

export const said = (text: string) =>
  ['response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }] as const;

export const script = (id: string, input: string) =>
  [
    'response_item',
    { type: 'custom_tool_call', status: 'completed', call_id: id, name: 'exec', input },
  ] as const;

export const printed = (id: string, text = 'Script completed\nOutput:\n') =>
  [
    'response_item',
    { type: 'custom_tool_call_output', call_id: id, output: [{ type: 'input_text', text }] },
  ] as const;

/** What Codex writes of a patch, before the result of the call that it is in. */
export const patched = (callId: string, changes: object, success = true) =>
  [
    'event_msg',
    {
      type: 'patch_apply_end',
      call_id: callId,
      success,
      changes,
      status: success ? 'completed' : 'failed',
    },
  ] as const;

export const compacted = (text: string) =>
  [
    'compacted',
    {
      message: text,
      replacement_history: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: `Another language model started to solve this problem. ${text}` },
          ],
        },
      ],
    },
  ] as const;

export const patchOf = (...files: readonly string[]): string =>
  [
    '*** Begin Patch',
    ...files.flatMap((file) => [`*** Update File: ${file}`, '@@', '-a', '+b']),
    '*** End Patch',
  ].join('\n');

/** Four commands, three files, two calls of a tool that ctxwrap does not understand and a script that does not end; the summary names one file. */
export const codeModeSession: readonly string[] = rolloutOf([
  head,
  said('Rename the option. Never push to main.'),
  script('c1', 'const r = await tools.exec_command({cmd:"cargo test","workdir":"/tmp/app"}); text(r.output)'),
  printed('c1'),
  script(
    'c2',
    `const patch = ${JSON.stringify(patchOf('src/a.rs', 'src/old.rs'))}; text(await tools.apply_patch(patch));`,
  ),
  patched('exec-1', {
    '/tmp/app/src/a.rs': { type: 'update', move_path: null },
    '/tmp/app/src/old.rs': { type: 'update', move_path: '/tmp/app/src/new.rs' },
  }),
  printed('c2'),
  script('c3', `text(await tools.apply_patch(${JSON.stringify(patchOf('src/unfit.rs'))}))`),
  printed('c3', 'Script failed\nOutput:\n Script error:\napply_patch verification failed: no such lines'),
  script(
    'c4',
    [
      'const cmds = ["cargo fmt", `cargo clippy`];',
      'const rs = await Promise.all(cmds.map(cmd => tools.exec_command({cmd, workdir: "/tmp/app"})));',
      'for (const r of rs) text(r.output);',
    ].join('\n'),
  ),
  printed('c4'),
  script(
    'c5',
    'text(await tools.mcp__tracker__close({id: 7})); text(await tools.mcp__tracker__close({id: 8}))',
  ),
  printed('c5'),
  script('c6', 'text(await tools.exec_command({cmd: "ls", workdir: "/tmp'),
  printed('c6'),
  compacted('Summary: src/a.rs was changed.'),
]);
