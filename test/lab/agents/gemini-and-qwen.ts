// Qwen Code is a fork of Gemini CLI, and has the same interface.
import { BACKSPACE, ctrl, ENTER, ESC, type Place, type PlaceName } from './agent.js';

export const sharedPlaces = {
  'slash popup': { keys: ['/'], shows: /^\s*\/?\w+ {2,}\S/m, back: [BACKSPACE] },
  'model picker': { keys: ['/model', ENTER], shows: /Select Model/i, back: [ESC] },
  rewind: { keys: [ESC, ESC], shows: /Rewind/, back: [ESC] },
  'history search': { keys: [ctrl('r')], shows: /\(r:\)/, back: [ESC] },
  'shell mode': { keys: ['!'], shows: /shell mode/i, back: [ESC] },
} as const satisfies Partial<Record<PlaceName, Place>>;
