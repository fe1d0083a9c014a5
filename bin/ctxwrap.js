#!/usr/bin/env -S node --
// the -- keeps node from reading a --env-file that stands among the arguments, also the agent's
require('../dist/launcher.cjs');
