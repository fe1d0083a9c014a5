import { command } from './command.js';
import { type Asked, json } from './parameters.js';

const takes = { json };

export type DoctorRequest = Asked<typeof takes>;

export const doctor = command({
  name: 'doctor',
  topic: 'setup',
  isCommon: true,
  summary: 'check your setup and suggest fixes',
  sections: [['Exit status', '0  no problems, though perhaps warnings\n1  a problem']],
  examples: ['ctxwrap doctor'],
  takes,
  configuration: 'all',
  run: async (asked) => (await import('../commands/doctor.js')).doctor(asked),
});
