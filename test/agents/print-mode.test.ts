// How the agents are started to write a summary.
import { describe, expect, it } from 'vitest';
import type { SettingsPort } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';

const where = { env: {}, home: '/home/me', cwd: '/home/me/.local/state/ctxwrap/summaries/run-1' };
/** Files by path; a folder is the names in it. */
const portOf = (files: Readonly<Record<string, string | readonly string[]>>): SettingsPort => ({
  text: async (path) => {
    const found = files[path];
    return typeof found === 'string' ? found : undefined;
  },
  names: async (folder) => {
    const found = files[folder];
    return typeof found === 'object' ? found : [];
  },
});

it('every agent that writes session files has a print mode, without the conversation in its arguments', () => {
  const known = Object.values(agents).filter((agent) => 'printMode' in agent);
  expect(known.map(({ name }) => name)).toEqual(['claude', 'codex', 'gemini', 'qwen']);
});

describe('the MCP servers of Codex are switched off by their names', () => {
  const serversOf = async (files: Readonly<Record<string, string>>): Promise<readonly string[]> => {
    const args = (await agents.codex.printMode?.ownArgs?.(portOf(files), where)) ?? [];
    return args.filter((arg) => arg !== '-c');
  };

  it.each<readonly [string, readonly string[]]>([
    ['[mcp_servers.docs]\ncommand = "x"\n', ['docs']],
    ['model = "m"\n  [ mcp_servers . "my-docs" ]\n[mcp_servers.\'b\']\n', ['my-docs', 'b']],
    ['[mcp_servers.a]\n[mcp_servers.a.env]\nX = "1"\n[mcp_servers.b.http_headers]\n', ['a', 'b']],
    ['mcp_servers.a.command = "x"\nmcp_servers.b = { command = "y" }\n', ['a', 'b']],
    ['# [mcp_servers.none]\nx = "[mcp_servers.none]"\n[mcp_servers_old.none]\n', []],
    ['', []],
  ])('in %j', async (text, names) => {
    expect(await serversOf({ '/home/me/.codex/config.toml': text })).toEqual(
      names.map((name) => `mcp_servers.${name}.enabled=false`),
    );
  });

  it('also those of the machine, each once', async () => {
    const files = {
      '/etc/codex/config.toml': '[mcp_servers.a]\n',
      '/home/me/.codex/config.toml': '[mcp_servers.a]\n[mcp_servers.b]\n',
    };
    expect(await serversOf(files)).toEqual(['mcp_servers.a.enabled=false', 'mcp_servers.b.enabled=false']);
  });
});

it('of the folders of Gemini only those about the empty folder are removed', async () => {
  const root = '/home/me/.gemini';
  const port = portOf({
    [`${root}/tmp`]: ['run-1', 'run-2', 'project', '..', 'bin'],
    [`${root}/history`]: ['run-1', 'project'],
    [`${root}/tmp/run-1/.project_root`]: where.cwd,
    [`${root}/tmp/run-2/.project_root`]: `${where.cwd}0`,
    [`${root}/tmp/project/.project_root`]: '/home/me/project',
    [`${root}/tmp/../.project_root`]: where.cwd,
    [`${root}/history/run-1/.project_root`]: `${where.cwd}\n`,
    [`${root}/history/project/.project_root`]: '/home/me/project',
  });
  expect(await agents.gemini.printMode?.leftovers?.(port, where)).toEqual([
    `${root}/tmp/run-1`,
    `${root}/history/run-1`,
  ]);
});
