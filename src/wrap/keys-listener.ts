import type { SinkListener } from './compacting/key-sink.js';
import type { Overlay } from './overlay/overlay.js';

export interface KeysListener extends SinkListener {
  /** the hotkey, where there is no overlay to be opened */
  onHotkey: () => void;
  /** gets the keys while it is open; the hotkey opens it and closes it */
  overlay?: Pick<Overlay, 'canOpen' | 'isOpen' | 'open' | 'close' | 'onKey'> | undefined;
  /** the hotkey and then `c`; undefined where that means nothing, and `c` is the child's */
  onCompactKey?: (() => void) | undefined;
  onAnswer: (text: string) => void;
}
