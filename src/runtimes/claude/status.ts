import { textAt } from '../../core/json.js';
import type { FilePort } from '../file-port.js';
import type { Place } from '../place.js';
import { ownPidFile } from './paths.js';
import type { AgentStatus } from '../seen.js';

/** Claude's own word on its state, in the pid file of the child; old versions write none (facts/sessions.md §F). */
export const readStatus = async (port: FilePort, place: Place): Promise<AgentStatus | undefined> => {
  const said = await ownPidFile(port, place);
  const state = textAt(said?.record, 'status');
  if (state === undefined) return undefined;
  const waitingFor = textAt(said?.record, 'waitingFor');
  return { state, ...(waitingFor === undefined ? {} : { waitingFor }) };
};
