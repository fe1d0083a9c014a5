// All commands that start no agent, bundled as one file. Split by esbuild, the code they share with a session would become a dozen files
// that every session waits for.
export { agentsCommand } from './agents.js';
export { brief } from './brief.js';
export { checkpoint } from './checkpoint.js';
export { compact } from './compact.js';
export { config } from './config.js';
export { context } from './context.js';
export { doctor } from './doctor.js';
export { events } from './events.js';
export { handoff } from './handoff.js';
export { history } from './history.js';
export { historyShow } from './history-show.js';
export { answerHook as hold } from '../hooks.js';
export { ps } from './ps.js';
export { receipt } from './receipt.js';
export { shortenCommand } from './shorten.js';
export { watchSessions } from './ps-watch.js';
export { undo } from './undo.js';
