// Somebody asks for a compaction while there is room: by the hotkey, and from another terminal.
import { setTimeout as pause } from 'node:timers/promises';
import { parseRecord, textAt } from '../../../src/core/json.js';
import { ctrl } from '../agents/agent.js';
import { compacted, must, openDialog } from '../../../src/verify/certificate.js';
import { SOME, type Scenario, type Stage } from './scenario.js';
import { fill, unanswered } from './steps.js';

const HOTKEY = ctrl(']');
const CHORD_MS = 200; // between the hotkey and its second key

const askByHotkey = async ({ terminal }: Stage): Promise<void> => {
  terminal.pressForUs(HOTKEY);
  await pause(CHORD_MS);
  terminal.pressForUs('c');
};

const byHotkey: Scenario = {
  name: 'asked by hotkey',
  expects:
    'the hotkey and c while there is room: compacts without a countdown, and neither key reaches the agent',
  typed: 1,
  play: async (stage) => {
    await fill(stage, SOME);
    must(/ safe/.test(stage.footer()), `the footer: ${stage.footer()}`);
    await askByHotkey(stage);
    return compacted(stage);
  },
};

const byHotkeyAtDialog: Scenario = {
  name: 'asked by hotkey at a dialog',
  expects: 'the same while a tool asks for permission: no key, and the tool is not approved',
  typed: 0,
  play: async (stage) => {
    await fill(stage, SOME);
    await openDialog(stage);
    await askByHotkey(stage);
    return unanswered(stage);
  },
};

const byCommand: Scenario = {
  name: 'asked by command',
  expects: '`ctxwrap compact` in another terminal while there is room: compacts, and the command tells so',
  typed: 1,
  play: async (stage) => {
    await fill(stage, SOME);
    const report = parseRecord(await stage.outside('compact', '--json'));
    const [outcome, words] = [textAt(report, 'outcome'), textAt(report, 'words')];
    must(outcome === 'verified', `the command says ${outcome}: ${words}`);
    return `it says "${words}"; ${await compacted(stage)}`;
  },
};

export const asked: readonly Scenario[] = [byHotkey, byHotkeyAtDialog, byCommand];
