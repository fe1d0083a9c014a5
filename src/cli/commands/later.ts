// The commands that start no agent, in one piece: what they share with a session would otherwise be a dozen files, and it would wait for each.
export { compact } from './compact.js';
export { config } from './config.js';
export { context } from './context.js';
export { doctor } from './doctor.js';
export { answerHook as hold } from '../hooks.js';
export { ps } from './ps.js';
