// Metrics of a real session through the built program: what its file and its collector get, and what is loaded for it.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTerminal, makeBench, type Bench } from '../cli/launcher.js';
import { bin, programPath } from '../support/programs.js';

const WAIT = { timeout: 60_000, interval: 20 };

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

/** Notes the name of each of ctxwrap's own parts that is run, in the wrapper, its threads and its children. */
const LOADED = `
const vm = require('node:vm');
vm.Script = class extends vm.Script {
  constructor(code, options) {
    super(code, options);
    require('node:fs').appendFileSync(process.env.LOADED, options.filename + '\\n');
  }
};
`;

/** A session that compacts once at its user's request, and is left by its user. */
const runSession = async (config: object): Promise<string> => {
  const place = join(bench.folder, '.config', 'ctxwrap');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'config.jsonc'), JSON.stringify(config));
  const loaded = join(bench.folder, 'loaded');
  const hook = join(bench.folder, 'loaded.cjs');
  writeFileSync(hook, LOADED);
  const [log, secret] = [join(bench.folder, 'log'), join(bench.folder, 'secret-project')];
  mkdirSync(secret);
  Object.assign(bench.env, {
    CTXWRAP_DEMO_LOG: join(bench.folder, 'demo.jsonl'),
    NODE_OPTIONS: `--require ${hook}`,
    LOADED: loaded,
  });
  const bounds = ['--mode', 'warn', '--warn', '20k', '--auto', '30k', '--hard', '190k'];
  const options = ['--runtime', 'demo', ...bounds, '--log', log];
  const terminal = inTerminal(
    process.execPath,
    [bin, ...options, '--', process.execPath, programPath('demo-like.js')],
    { ...bench, folder: secret },
  );
  const logged = (pattern: RegExp): Promise<void> =>
    vi.waitFor(() => expect(existsSync(log) ? readFileSync(log, 'utf8') : '').toMatch(pattern), WAIT);
  await terminal.seen(/25%/);
  terminal.type('\x1dc');
  await logged(/compaction by us: verified/);
  terminal.type('secret words\r');
  await terminal.seen(/15k/);
  terminal.type('\x03\x03');
  expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  return readFileSync(loaded, 'utf8');
};

describe('a session with a compaction', () => {
  it('leaves its counts in the folder, as promtool accepts them', async () => {
    const folder = join(bench.folder, 'prom');
    mkdirSync(folder);
    const loaded = await runSession({ 'metrics.textfile': folder });
    const [name = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^ctxwrap-\d+-\w+\.prom$/);
    const input = readFileSync(join(folder, name), 'utf8');
    expect(input).toMatch(/^ctxwrap_compactions_total\{.*trigger="request",outcome="verified"\} 1$/m);
    expect(input).toMatch(/^ctxwrap_compaction_duration_seconds_count\{.*\} 1$/m);
    expect(input).not.toContain('secret');
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect(`${stdout ?? ''}${stderr ?? ''}`).toBe(''); // where it is not installed it says nothing
    expect(loaded).toContain('/main.cjs');
    expect(loaded).not.toContain('otlp'); // the SDK is loaded only for a collector
  });

  it('sends its numbers to the collector, and nothing that was said or where', async () => {
    const bodies: string[] = [];
    const headers: unknown[] = [];
    const server = createServer(async (request, response) => {
      headers.push(request.headers['x-key']);
      bodies.push(await text(request));
      response.end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    bench.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-key=open';
    const loaded = await runSession({ 'metrics.otlp': `http://127.0.0.1:${port}` });
    server.close().closeAllConnections();
    const last = bodies.at(-1) ?? '';
    expect(last).toContain('"name":"ctxwrap.compactions"');
    expect(last).toContain('{"key":"ctxwrap.trigger","value":{"stringValue":"request"}}');
    expect(last).toMatch(/"name":"ctxwrap\.context\.used_tokens".*?"asInt":15400/);
    expect(new Set(headers)).toEqual(new Set(['open']));
    expect(bodies.join()).not.toMatch(/secret|\/tmp|\/home|host\.name/);
    expect(loaded).toContain('otlp');
  });
});
