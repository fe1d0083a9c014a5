import { claude } from './claude/runtime.js';
import { codex } from './codex/runtime.js';
import { demo } from './demo/runtime.js';
import { gemini } from './gemini/runtime.js';
import { generic } from './generic/runtime.js';
import { qwen } from './qwen/runtime.js';
import type { Runtime } from './runtime.js';

/** All runtimes by name. */
export const runtimes = { claude, codex, gemini, qwen, demo, generic } as const satisfies Record<
  string,
  Runtime
>;
