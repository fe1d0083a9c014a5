import type { Terminal } from '@xterm/headless';

// DEC private modes that are on in a fresh terminal: autorepeat, autowrap, cursor
const onByDefault = new Set([7, 8, 25]);
// without a state of their own, visible in the active buffer, or a preference of the user (meta keys, which readline sets)
const uncounted = new Set([47, 1034, 1047, 1048, 1049]);

type Parameters = readonly (number | number[])[];

const flat = (parameters: Parameters): number[] => parameters.flat();

/**
 * Tracks what a terminal is told to turn on, including modes that the emulator does not know. The returned function names what is still on;
 * an empty list is the state that a shell expects.
 */
export const watchLeftovers = (terminal: Terminal): (() => readonly string[]) => {
  const { parser } = terminal;
  const modes = new Map<string, boolean>();
  const depth = { normal: 0, alternate: 0 };
  const csi = (
    id: { prefix?: string; intermediates?: string; final: string },
    see: (parameters: number[]) => void,
  ): void => {
    parser.registerCsiHandler(id, (parameters) => {
      see(flat(parameters));
      return false;
    });
  };
  const osc = (number: number, see: (text: string) => void): void => {
    parser.registerOscHandler(number, (text) => {
      see(text);
      return false;
    });
  };
  for (const [final, on] of [
    ['h', true],
    ['l', false],
  ] as const) {
    csi({ prefix: '?', final }, (numbers) => {
      for (const number of numbers)
        if (!uncounted.has(number)) modes.set(`?${number}`, on !== onByDefault.has(number));
    });
    csi({ final }, (numbers) => {
      for (const number of numbers) modes.set(`${number}`, on);
    });
  }
  csi({ prefix: '>', final: 'u' }, () => {
    depth[terminal.buffer.active.type] += 1;
  });
  csi({ prefix: '<', final: 'u' }, ([count = 0]) => {
    const { type } = terminal.buffer.active;
    depth[type] = Math.max(0, depth[type] - Math.max(1, count));
  });
  csi({ prefix: '=', final: 'u' }, ([flags = 0]) => modes.set('keyboard flags', flags !== 0));
  csi({ prefix: '>', final: 'm' }, ([resource = 0, value = 0]) => modes.set(`keys ${resource}`, value !== 0));
  csi({ intermediates: ' ', final: 'q' }, ([style = 0]) => modes.set('cursor style', style !== 0));
  osc(8, (text) => modes.set('link', !text.endsWith(';')));
  osc(12, () => modes.set('cursor colour', true));
  osc(112, () => modes.set('cursor colour', false));
  return () => [
    ...[...modes].filter(([, on]) => on).map(([name]) => name),
    ...Object.entries(depth)
      .filter(([, count]) => count > 0)
      .map(([buffer, count]) => `${count} keyboard modes in the ${buffer} buffer`),
  ];
};
