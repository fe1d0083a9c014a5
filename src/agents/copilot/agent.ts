import type { NativeTrigger } from '../../core/build-ladder.js';
import { getRecord, getText, type JsonRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import { copilotSessions, idInPath, locateCopilot, parseStatus, sessionFile } from './files.js';
import { copilotLaunch } from './launch.js';
import { copilotNewSessions } from './new-session.js';
import { copilotScreen } from './screen.js';
import { copilotReader, copilotSession } from './session.js';

const copilotHome: AgentHome = {
  played: ['1.0.102', '1.0.92'],
  usualWindowTokens: 128_000,
  sessions: copilotSessions,
  sessionFile,
  idInPath,
};

/** In the background, when a request is at least so full (docs/facts/copilot.md). It has no setting for it. */
const usualTrigger: NativeTrigger = { share: 0.8, reserveTokens: 0 };

/** A record that only Copilot CLI writes. */
const isCopilotRecord = (record: JsonRecord): boolean =>
  typeof record['id'] === 'string' &&
  'parentId' in record &&
  getRecord(record, 'data') !== undefined &&
  /^(?:session|user|assistant|system|tool|permission|model|abort)(?:\.|$)/.test(
    getText(record, 'type') ?? '',
  );

export const copilot: Agent = {
  ...copilotLaunch,
  home: copilotHome,
  nativeTrigger: () => usualTrigger,
  log: {
    locate: locateCopilot,
    reader: copilotReader,
    stateIn: parseStatus,
    recognises: isCopilotRecord,
    conversation: copilotSession,
  },
  newSessions: copilotNewSessions,
  screen: copilotScreen,
};
