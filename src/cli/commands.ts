import { helpOf, man, version } from './define/about.js';
import { agents } from './define/agents.js';
import { checkpoint } from './define/checkpoint.js';
import type { DefinedCommand } from './define/command.js';
import { compact } from './define/compact.js';
import { config } from './define/config.js';
import { context } from './define/context.js';
import { demo } from './define/demo.js';
import { doctor } from './define/doctor.js';
import { events } from './define/events.js';
import { handoff } from './define/handoff.js';
import { history } from './define/history.js';
import { hold, hook } from './define/hook.js';
import { ps } from './define/ps.js';
import { brief, recall, receipt } from './define/recall.js';
import { replay } from './define/replay.js';
import { report } from './define/report.js';
import { complete, completion, init } from './define/shell.js';
import { top } from './define/top.js';
import { undo } from './define/undo.js';
import { verify } from './define/verify.js';

// All commands, in the order of --help.

const onSessions = [
  ps,
  top,
  events,
  context,
  report,
  compact,
  history,
  recall,
  receipt,
  brief,
  undo,
  handoff,
  checkpoint,
];
const onSetup = [doctor, config, init, completion, complete, version, man, hook, hold, agents];
const onTrials = [demo, verify, replay];

const withoutHelp: readonly DefinedCommand[] = [...onSessions, ...onSetup, ...onTrials];

export const commands = [...withoutHelp, helpOf(withoutHelp)];

/** ctxwrap's own commands, also those that are not listed; no agent can have these names. */
export const commandWords: readonly string[] = commands.flatMap(({ names }) => names);

/** The commands that --help lists. */
export const listedCommands: readonly string[] = commands.flatMap(({ names: [name = ''], isHidden }) =>
  isHidden ? [] : [name],
);
