#!/usr/bin/env -S node --
// the -- keeps node from reading a --env-file that stands among the arguments, also the agent's
try {
  require('../dist/launcher.cjs');
} catch (error) {
  if (error.code !== 'MODULE_NOT_FOUND' || error.requireStack[0] !== __filename) throw error;
  const checkout = require('node:path').dirname(__dirname).replaceAll("'", "'\\''");
  process.stderr.write(
    'ctxwrap: this checkout has not been built\n' +
      `ctxwrap: build it with: cd '${checkout}' && npm install && npm run build\n`,
  );
  process.exitCode = 1;
}
