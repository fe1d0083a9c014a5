// Everything needed before the child runs, in one module: each further module to load would delay the child.
export { requestReports as askOfficially } from './launch-reports.js';
export { childSize } from './terminal-session.js';
export { wrap } from './wrap.js';
