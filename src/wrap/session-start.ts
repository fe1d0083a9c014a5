// What a session needs before its child runs, in one piece: each further file would keep the child waiting.
export { askOfficially } from './status-line.js';
export { makePanel } from './overlay-panel.js';
export { childSize } from './terminal-session.js';
export { wrap } from './wrap.js';
