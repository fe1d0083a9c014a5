// Which of the commands that ran are worth keeping.
import { describe, expect, it } from 'vitest';
import { commandsThatMatter } from '../../src/core/conversation/command-evidence.js';
import type { ToolUse } from '../../src/core/conversation/conversation.js';

type Ran = string | readonly [command: string, output: string, isError?: true];

const uses = (...ran: readonly Ran[]): readonly ToolUse[] =>
  ran.map((each, line) => {
    const [command, output = '', isError] = typeof each === 'string' ? [each] : each;
    const base = { source: { line }, tokens: 1, callId: `c${line}` };
    return {
      call: { ...base, kind: 'call', name: 'shell', input: {}, files: [], commands: [command] },
      result: { ...base, kind: 'result', output, ...(isError ? { isError } : {}) },
    };
  });

/** Each as it is listed; `✗` before one that failed. */
const listed = (...ran: readonly Ran[]): readonly string[] =>
  commandsThatMatter(uses(...ran)).map(({ text, hasFailed }) => (hasFailed ? `✗ ${text}` : text));

describe('a command matters', () => {
  it.each([
    'npm test',
    'npm run test:unit',
    'go test ./... -run TestOne',
    'cargo +nightly test --all',
    'pytest -q tests/a.py',
    'python3 -m pytest',
    './scripts/test-all.sh',
    'make check',
    'mise run lint',
    'cargo build --release',
    'tsc --noEmit',
    'npx prisma migrate deploy',
    'rails db:migrate',
    'git push -u origin main',
    'gh pr create --fill',
    'kubectl apply -f app.yaml',
    'terraform apply',
    'npm publish',
    'docker compose up -d',
    'gh api repos/a/b/issues/1/comments -f body=done',
    'cargo fmt --check',
    'git -c push.default=current push',
    'git -c user.name="A B" -C /x push --force-with-lease',
    'pnpm --filter web test',
    'pnpm -F web run build',
    'yarn workspace web lint',
    'npm --prefix web test',
  ])('as a test, build, check, migration or deployment: %s', (command) => {
    expect(listed('touch a', command, 'ls')).toEqual([command.replace('npx ', '')]);
  });

  it.each([
    'ls -la',
    'cat latest.txt',
    'grep -rn test src',
    'git diff',
    'gh pr view 1',
    'gh api repos/a/b',
    'rg "npm test"',
  ])('not if it only looks: %s', (command) =>
    expect(listed(command, [command, 'Exit code 1', true])).toEqual([]),
  );

  it('only as the last of its kind by its program', () => {
    expect(
      listed('go test ./a', 'npm test', 'go build', 'go test ./b', 'git push', 'git -C /x push'),
    ).toEqual(['npm test', 'go build', 'go test ./b', 'git -C /x push']);
  });

  it('if it failed and no later run went well', () => {
    const failed = 'Exit code 1\nconflict';
    expect(listed(['git rebase main', failed, true], 'npm test')).toEqual(['✗ git rebase main', 'npm test']);
    expect(listed(['git rebase main', failed, true], 'git rebase main', 'npm test')).toEqual(['npm test']);
    expect(listed('npm test', ['npm test', 'Process exited with code 2\nOutput:'])).toEqual(['✗ npm test']);
    expect(listed(['npm test', failed, true], ['npm test', 'Process exited with code 0'])).toEqual([
      'npm test',
    ]);
  });

  it('in a shell of its own like any other', () => {
    expect(listed("bash -lc 'cd a && npm test'")).toEqual(['npm test']);
    expect(listed('cd a && /bin/sh -c "git commit -m \\"npm test\\" && git push"')).toEqual(['git push']);
    expect(listed("bash -lc 'ls -la'", 'bash -l script.sh')).toEqual(['bash -l script.sh']);
  });

  it.each([
    "bash -euo pipefail -c 'cd a && npm test'",
    "bash -o pipefail --norc -ec 'npm test'",
    "fish -c 'npm test'",
    "sudo -u app bash -lc 'npm test'",
    "sudo -Hu app --chdir /x -n /usr/bin/fish -c 'npm test'",
    "bash -lc $'npm test'",
    "bash -c $'cd \\'my app\\'; \\\nnpm test\\necho done'",
    'sudo -u app npm test',
    "bash -c 'npm test' name",
    "bash --rcfile x -c 'npm test'",
    "bash +e -c 'npm test'",
    "fish --command 'npm test'",
    "fish --command='npm test'",
    'nice -n 5 npm test',
    'doas -u app npm test',
    "sudo -p 'pass word' npm test",
    'env -u X npm test',
    "bash -c $'\\x6epm\\040\\u0074est'",
  ])('by the program that the line of a shell runs: %s', (line) => {
    expect(listed(line)).toEqual(['npm test']);
  });

  it.each([
    ['options of a shell', (count: number) => `bash ${'--norc '.repeat(count)}x.sh`],
    ['values of options of a shell', (count: number) => `bash ${'--rcfile x '.repeat(count)}x.sh`],
    ['options of a program that runs another one', (count: number) => `sudo ${'-u -u '.repeat(count)}`],
    ['options of a task', (count: number) => `npm ${'--filter run '.repeat(count)}!`],
    ['options of Git', (count: number) => `git ${'-c "a"b '.repeat(count)}`],
    ['quotes', (count: number) => `bash -c ${`"'$'`.repeat(count)}`],
    ['parts of the name of a script', (count: number) => `./${'test-'.repeat(count)}`],
  ])('also behind many %s', (_, line) => {
    for (const count of [20, 40, 80, 160, 200]) expect(listed(line(count), 'npm test')).toContain('npm test');
  });

  it('with a text between $ and quotes as one word', () => {
    expect(listed("git commit -m $'it\\'s; npm test' && git push")).toEqual(['git push']);
  });

  it('as the same task of two projects twice', () => {
    const both = ['pnpm --filter a test', 'pnpm --filter b test'];
    expect(listed(...both, ...both)).toEqual(both);
    expect(listed('git -c a=b push', 'git push')).toEqual(['git push']);
  });

  it('not as failed where only a program says so of another one', () => {
    const output = 'all good\nchild: ok\nexit code 3\n'.padEnd(100, '.');
    expect(listed(['npm test', output])).toEqual(['npm test']);
    expect(
      listed(['npm test', `Chunk ID: 1\nWall time: 1 s\nProcess exited with code 0\n${output}`]),
    ).toEqual(['npm test']);
    for (const line of [
      'Coverage: 80%\nexit code 3 of the child',
      'Tests: 4 passed\nExit code 1 was expected',
    ])
      expect(listed(['npm test', `${line}\nall passed\n`])).toEqual(['npm test']);
    for (const failed of [
      'Exit code 1\nconflict',
      'Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\n',
      `Output: ${'x\n'.repeat(300)}\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: 7`,
      '2 failed\n<shellId: 0 completed with exit code 1>',
    ])
      expect(listed(['npm test', failed])).toEqual(['✗ npm test']);
  });

  it('not if it never ran', () => {
    expect(listed(['npm publish', 'The user refused it.', true])).toEqual([]);
  });

  it('if nothing else does, as the last that was no search', () => {
    expect(listed('touch a', 'touch b', 'ls')).toEqual(['touch b']);
    expect(listed('for f in *; do echo "$f"; done')).toEqual([]);
  });

  it('without its folder, pipes, redirections and assignments', () => {
    expect(listed('cd "/my app" && CI=1 timeout 60 npm test -- a 2>&1 | tail -5')).toEqual(['npm test -- a']);
    expect(listed('npm run fmt && npm run lint > out.txt; npm test')).toEqual(['npm run lint', 'npm test']);
    expect(listed("git commit -m 'now npm publish && git push' && make build")).toEqual(['make build']);
    expect(listed('cat > a.sh << EOF\nnpm test\nEOF')).toEqual([]);
  });

  it('is found behind a document in the line, and a shift is none', () => {
    const commit = 'git commit -m "$(cat <<\'EOF\'\nWords; npm test\nEOF\n)" && git push origin main';
    expect(listed(commit)).toEqual(['git push origin main']);
    expect(listed("cat > a.sh <<'EOF'\nrm -rf x\nEOF\nnpm test")).toEqual(['npm test']);
    expect(listed("cat > a.sh <<'EOF'\nnpm test")).toEqual([]);
    expect(listed('echo $((1<<n)); git push origin main')).toEqual(['git push origin main']);
    expect(listed('echo "a << b"; npm test')).toEqual(['npm test']);
  });

  it('not if it only asks what it would do', () => {
    expect(listed('npm test', 'git push origin main', 'git push --dry-run', 'pytest --version')).toEqual([
      'npm test',
      'git push origin main',
    ]);
  });

  it.each([
    [
      'npm publish --//registry.example/:_authToken=npm_0123456789abcdefghij',
      'npm publish --//registry.example/:_authToken=…',
    ],
    ['git push https://me:hunter22@example.org/a.git', 'git push https://me:…@example.org/a.git'],
    ['terraform apply -var "db_password=hunter22"', 'terraform apply -var "db_password=…"'],
    ['vercel deploy --token abcdefgh', 'vercel deploy --token …'],
    ['vercel deploy --token $TOKEN', 'vercel deploy --token $TOKEN'],
    ['git push --token-file a.txt', 'git push --token-file a.txt'],
  ])('is listed without what is secret in it: %s', (command, text) => {
    expect(listed(command)).toEqual([text]);
  });

  it('is what an answer goes to, and has no bracket of its group', () => {
    expect(listed('echo y | terraform apply')).toEqual(['terraform apply']);
    expect(listed('yes | npx prisma migrate deploy')).toEqual(['prisma migrate deploy']);
    expect(listed('(cd web && npm run build)')).toEqual(['npm run build']);
  });

  it('is found in a line that is made to be costly', () => {
    const costly = [
      'a '.repeat(50_000),
      '"'.repeat(50_000),
      '$('.repeat(50_000),
      `npm run ${'a-'.repeat(50_000)}`,
      `./${'a_'.repeat(50_000)}`,
      'a/b_'.repeat(50_000),
      'npm '.repeat(50_000),
      ' - '.repeat(50_000),
    ];
    expect(listed(...costly).length).toBeLessThanOrEqual(costly.length);
  });
});
