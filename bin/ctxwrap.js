#!/usr/bin/env -S node --
// the -- keeps node from reading a --env-file that stands among the arguments, also the agent's
const { existsSync, statSync } = require('node:fs');
const { dirname, join } = require('node:path');

const home = dirname(__dirname);

/** The launcher or what it starts is missing or cut off. */
const isIncomplete = (error) => {
  if (!(error instanceof Error)) return false;
  if (error.code === 'MODULE_NOT_FOUND') return error.requireStack?.[0] === __filename;
  const isCutOff = error instanceof SyntaxError && error.stack.startsWith(join(home, 'dist', 'launcher.cjs'));
  return isCutOff || error.code === 'CTXWRAP_INCOMPLETE';
};

/** An empty file is no error for Node. */
const startProgram = () => {
  if (statSync(join(home, 'dist/launcher.cjs'), { throwIfNoEntry: false })?.size === 0)
    throw Object.assign(new Error('the launcher is empty'), { code: 'CTXWRAP_INCOMPLETE' });
  require('../dist/launcher.cjs');
};

try {
  startProgram();
} catch (error) {
  if (!isIncomplete(error)) throw error;
  const checkout = `cd '${home.replaceAll("'", "'\\''")}' && npm install && npm run build`;
  process.stderr.write(
    existsSync(join(home, 'src'))
      ? `ctxwrap: this checkout has not been built\nctxwrap: build it with: ${checkout}\n`
      : 'ctxwrap: files of this installation are missing, or it is being updated: start it once more\n' +
          'ctxwrap: if that does not help: npm install -g ctxwrap\n',
  );
  process.exitCode = 1;
}
