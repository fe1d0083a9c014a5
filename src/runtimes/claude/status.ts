import { textAt } from '../../core/json.js';
import type { FilePort } from '../file-port.js';
import type { AgentStatus, Place } from '../runtime.js';
import { ownPidFile } from './paths.js';

/** Claude's own word on its state, in the pid file of the child; old versions write none (facts/sessions.md §F). */
export const readStatus = async (port: FilePort, place: Place): Promise<AgentStatus | undefined> => {
  const said = await ownPidFile(port, place);
  const state = textAt(said?.record, 'status');
  if (state === undefined) return undefined;
  const waitingFor = textAt(said?.record, 'waitingFor');
  return { state, ...(waitingFor === undefined ? {} : { waitingFor }) };
};
