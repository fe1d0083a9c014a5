// A compaction is requested while the window has room: by the hotkey, and from another terminal.
import { parseRecord, getText } from '../../../src/core/json.js';
import { untilCompacted, assertThat, openDialog } from '../../../src/verify/checks.js';
import { SOME, type Scenario, type LabSession } from './scenario.js';
import { fill, pressChord, stillAsking } from './steps.js';

const askByHotkey = (session: LabSession): Promise<void> => pressChord(session, 'c');

const byHotkey: Scenario = {
  name: 'asked by hotkey',
  expects:
    'the hotkey and c while there is room: compacts without a countdown, and neither key reaches the agent',
  typed: 1,
  play: async (session) => {
    await fill(session, SOME);
    assertThat(/ safe/.test(session.footer()), `the footer: ${session.footer()}`);
    await askByHotkey(session);
    return untilCompacted(session);
  },
};

const byHotkeyAtDialog: Scenario = {
  name: 'asked by hotkey at a dialog',
  expects: 'the same while a tool asks for permission: no key, and the tool is not approved',
  typed: 0,
  play: async (session) => {
    await fill(session, SOME);
    await openDialog(session);
    await askByHotkey(session);
    return stillAsking(session);
  },
};

const byCommand: Scenario = {
  name: 'asked by command',
  expects: '`ctxwrap compact` in another terminal while there is room: compacts, and the command tells so',
  typed: 1,
  play: async (session) => {
    await fill(session, SOME);
    const report = parseRecord(await session.runCtxwrap('compact', '--json'));
    const [outcome, words] = [getText(report, 'outcome'), getText(report, 'words')];
    assertThat(outcome === 'verified', `the command says ${outcome}: ${words}`);
    return `it says "${words}"; ${await untilCompacted(session)}`;
  },
};

export const asked: readonly Scenario[] = [byHotkey, byHotkeyAtDialog, byCommand];
