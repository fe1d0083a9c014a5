// The demo agent: a program that looks and behaves like a coding agent, without a model. `ctxwrap demo` runs it as its child.
import { readFileSync } from 'node:fs';
import { UserError } from '../core/user-error.js';
import { parseOptions, type Options } from './options.js';
import { parseScript, type Step } from './script.js';
import { run } from './shell.js';
import { story } from './story.js';

const stepsOf = ({ script, auto }: Options): readonly Step[] => {
  if (script === undefined) return auto ? story : [];
  try {
    return parseScript(readFileSync(script, 'utf8'));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot read the script ${script}`, { exitCode: 2 });
  }
};

try {
  const options = parseOptions(process.argv.slice(2));
  const log = process.env['CTXWRAP_DEMO_LOG'];
  run({ steps: stepsOf(options), pace: options.pace, ...(log ? { log } : {}) });
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`demo-agent: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
  process.exitCode = error.exitCode;
}
