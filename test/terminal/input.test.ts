import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flushElements, startInput } from '../../src/core/terminal-input.js';
import { readInput, type InputContext } from '../../src/terminal/input.js';
import { makeQueryQueue, type QueryKind } from '../../src/terminal/query-queue.js';
import type { MouseReports } from '../../src/terminal/reports.js';

const geometry = { terminalRows: 25, childRows: 24, columns: 80, knownRows: 24 };
const mouseOf = (changes: Partial<MouseReports> = {}): MouseReports => ({
  isAsked: false,
  hasUtf8: false,
  hasPixels: false,
  pixels: { cellHeight: undefined, areSeen: false },
  dropped: { buttons: new Set(), areReleasesAsked: true },
  ...changes,
});

const context: InputContext = {
  hotkey: 0x1d,
  geometry,
  queries: makeQueryQueue(),
  mouse: mouseOf(),
  isQuiet: false,
};

/** The wrapper waits for an answer of each of these kinds. */
const asked = (...kinds: readonly QueryKind[]): Partial<InputContext> => {
  const queries = makeQueryQueue();
  for (const kind of kinds) queries.addOwn(kind);
  return { queries };
};

const textOf = (elements: readonly { readonly text: string }[]): string =>
  elements.map(({ text }) => text).join('');

/** What the child gets, with `<HOTKEY>` and `<ANSWER …>` for what the wrapper takes. */
const read = (pieces: readonly string[], changes: Partial<InputContext> = {}): string => {
  let state = startInput;
  let seen = '';
  const { mouse = mouseOf() } = changes;
  for (const piece of pieces) {
    const result = readInput(state, piece, { ...context, mouse, ...changes });
    state = result.state;
    for (const part of result.parts) {
      if (part.type === 'forward') seen += part.element.text;
      else seen += part.type === 'hotkey' ? '<HOTKEY>' : `<ANSWER ${part.text}>`;
    }
  }
  return seen + textOf(flushElements(state).elements);
};

const bytes = (text: string): string[] => [...text];

describe('the hotkey', () => {
  it.each([
    { form: 'the control byte', keys: '\x1d' },
    { form: 'the kitty keyboard protocol', keys: '\x1b[93;5u' },
    { form: 'the kitty protocol with a press event', keys: '\x1b[93;5:1u' },
    { form: 'the kitty protocol with caps lock on', keys: '\x1b[93;69u' },
    { form: 'the kitty protocol with alternate keys', keys: '\x1b[93::93;5u' },
    { form: 'modifyOtherKeys', keys: '\x1b[27;5;93~' },
    { form: 'Ctrl-5 in the kitty protocol', keys: '\x1b[53;5u' },
    { form: 'Ctrl-5 in modifyOtherKeys', keys: '\x1b[27;5;53~' },
  ])('is recognised as $form, also when its bytes come one by one', ({ keys }) => {
    expect(read([`a${keys}b`])).toBe('a<HOTKEY>b');
    expect(read(bytes(`a${keys}b`))).toBe('a<HOTKEY>b');
  });

  it.each([
    { what: 'a ] without Ctrl', keys: ']' },
    { what: 'Ctrl-Alt-]', keys: '\x1b[93;7u' },
    { what: 'Ctrl-a in the kitty protocol', keys: '\x1b[97;5u' },
    { what: 'Ctrl-4 in the kitty protocol', keys: '\x1b[52;5u' },
    { what: 'an arrow with Ctrl', keys: '\x1b[1;5A' },
    { what: 'a lone Escape', keys: '\x1b' },
    { what: 'Alt-x', keys: '\x1bx' },
    { what: 'a function key of SS3', keys: '\x1bOP' },
  ])('is not $what', ({ keys }) => {
    expect(read([keys])).toBe(keys);
    expect(read(bytes(keys))).toBe(keys);
  });

  it('has a release that does not reach the child either', () => {
    expect(read(['\x1b[93;5u\x1b[93;5:3u'])).toBe('<HOTKEY>');
  });

  it('goes to the child inside a bracketed paste, wherever the paste is split', () => {
    const paste = '\x1b[200~a\x1db\x1b[93;5uc\x1b[201~';
    expect(read([paste])).toBe(paste);
    expect(read(bytes(`${paste}\x1d`))).toBe(`${paste}<HOTKEY>`);
  });

  it('goes to the child when the user has turned it off', () => {
    expect(read(['\x1d\x1b[93;5u'], { hotkey: undefined })).toBe('\x1d\x1b[93;5u');
  });
});

describe('what the terminal reports', () => {
  it.each([
    { what: 'its size in characters', from: '\x1b[8;25;80t', to: '\x1b[8;24;80t' },
    { what: 'its size, columns first', from: '\x1b[8;80;25t', to: '\x1b[8;80;24t' },
    { what: 'a size newer than ours', from: '\x1b[8;31;80t', to: '\x1b[8;30;80t' },
    { what: 'its size in pixels', from: '\x1b[4;500;800t', to: '\x1b[4;480;800t' },
    { what: 'a resize in band', from: '\x1b[48;25;80;500;800t', to: '\x1b[48;24;80;480;800t' },
    { what: 'its displayed extent', from: '\x1b[25;80;1;1;1"w', to: '\x1b[24;80;1;1;1"w' },
    { what: 'its lines per screen', from: '\x1bP1$r25*|\x1b\\', to: '\x1bP1$r24*|\x1b\\' },
    { what: 'its lines per page', from: '\x1bP1$r25t\x1b\\', to: '\x1bP1$r24t\x1b\\' },
    { what: 'other settings', from: '\x1bP1$r1;24r\x1b\\', to: '\x1bP1$r1;24r\x1b\\' },
    { what: 'a drag onto the footer', from: '\x1b[<32;10;25M', to: '\x1b[<32;10;24M' },
    { what: 'a release on the footer', from: '\x1b[<0;10;25m', to: '\x1b[<0;10;24m' },
    { what: 'a press on the footer', from: '\x1b[<0;10;25M', to: '' },
    { what: 'a press above it', from: '\x1b[<0;10;24M', to: '\x1b[<0;10;24M' },
    { what: 'the wheel on the footer', from: '\x1b[<65;10;25M\x1b[<65;10;25m', to: '' },
    { what: 'no button on the footer', from: '\x1b[<35;10;25M\x1b[<39;10;25m\x1b[67;10;25M', to: '' },
    { what: 'no button above it', from: '\x1b[<35;10;24M', to: '\x1b[<35;10;24M' },
    { what: 'a click on the footer', from: '\x1b[<0;10;25M\x1b[<0;10;25m', to: '' },
    { what: 'a drag from the footer', from: '\x1b[<4;9;25M\x1b[<32;9;20M\x1b[<0;9;20m', to: '' },
    { what: 'a press on the footer as urxvt sends it', from: '\x1b[32;10;25M', to: '' },
  ])('of $what is told as a terminal without the footer would', ({ from, to }) => {
    expect(read([from])).toBe(to);
    expect(read(bytes(from))).toBe(to);
  });

  it.each([
    {
      what: 'in bytes',
      place: (row: number) => `\x1b[M \x7f${String.fromCharCode(row + 32)}`,
      hasUtf8: false,
    },
    {
      what: 'in UTF-8',
      place: (row: number) => Buffer.from(`\x1b[M ${String.fromCodePoint(232, row + 32)}`).toString('latin1'),
      hasUtf8: true,
    },
    { what: 'as urxvt does', place: (row: number) => `\x1b[32;95;${row}M`, hasUtf8: false },
    { what: 'as SGR does', place: (row: number) => `\x1b[<0;95;${row}M`, hasUtf8: false },
  ])(
    'about the mouse $what never names a row below the child’s last, however it is cut',
    ({ place, hasUtf8 }) => {
      const mouse = mouseOf({ isAsked: true, hasUtf8 });
      const sizes = { terminalRows: 121, childRows: 120, columns: 300, knownRows: 110 };
      for (const pieces of [[`a${place(110)}b${place(111)}c`], bytes(`a${place(110)}b${place(121)}c`)])
        expect(read(pieces, { mouse, geometry: sizes })).toBe(`a${place(110)}bc`);
    },
  );

  it('about a drag below the child’s last row is told in that row, in UTF-8, too', () => {
    const place = (row: number): string =>
      Buffer.from(`\x1b[M@${String.fromCodePoint(332, row + 32)}`).toString('latin1');
    const mouse = mouseOf({ isAsked: true, hasUtf8: true });
    const sizes = { terminalRows: 121, childRows: 120, columns: 400, knownRows: 120 };
    expect(read([place(121)], { mouse, geometry: sizes })).toBe(place(120));
  });

  it('about the mouse in pixels names no place below the child’s last row', () => {
    const mouse = mouseOf({ hasPixels: true, pixels: { cellHeight: 20, areSeen: false } });
    const shown = read(['\x1b[<0;300;479M\x1b[<0;300;499m\x1b[<0;300;480M\x1b[<0;300;499m\x1b[<0;9;25M'], {
      mouse,
    });
    expect(shown).toBe('\x1b[<0;300;479M\x1b[<0;300;479m\x1b[<0;9;25M');
  });

  it('about the mouse is in cells where the terminal does not know of pixels', () => {
    const mouse = mouseOf({ hasPixels: true, pixels: { cellHeight: 20, areSeen: false } });
    expect(read(['\x1b[<0;80;25M\x1b[<0;80;24M'], { mouse })).toBe('\x1b[<0;80;24M');
  });

  it.each(['\x1b[4;500;800t', '\x1b[6;20;10t', '\x1b[48;25;80;500;800t'])(
    'of its size tells the height of a cell: %j',
    (report) => {
      const mouse = mouseOf();
      read([report], { mouse });
      expect(mouse.pixels.cellHeight).toBe(20);
    },
  );

  it('about the mouse in the old form is translated only once the child has requested it', () => {
    const press = '\x1b[M \x30\x39'; // row 25
    const mouse = mouseOf({ isAsked: true });
    expect(read(bytes(press), { mouse })).toBe('');
    expect(read(['\x1b[M#\x30\x39'], { mouse })).toBe('');
    expect(read(['\x1b[M#\x30\x39'], { mouse })).toBe('\x1b[M#\x30\x38');
    expect(read([press])).toBe(press);
  });

  it.each([
    {
      form: 'SGR',
      modes: {},
      sgr: '<',
      place: (code: number, row: number, end: string) => `\x1b[<${code};9;${row}${end}`,
    },
    { form: 'urxvt', modes: {}, place: (code: number, row: number) => `\x1b[${code + 32};9;${row}M` },
    {
      form: 'the oldest',
      modes: { isAsked: true },
      place: (code: number, row: number) =>
        `\x1b[M${String.fromCharCode(code + 32)}\x29${String.fromCharCode(row + 32)}`,
    },
  ])(
    'about the mouse in the form of $form is of a click only if it began in the child’s rows',
    ({ modes, sgr, place }) => {
      const step = fc.record({
        button: fc.nat(2),
        isDrag: fc.boolean(),
        row: fc.integer({ min: 22, max: 25 }),
      });
      fc.assert(
        fc.property(fc.array(step, { maxLength: 12 }), fc.boolean(), (steps, isCut) => {
          const held = new Map<number, boolean>(); // and whether the child knows
          let sent = '';
          let expected = '';
          for (const { button, isDrag, row } of steps) {
            const pressed = sgr ? button : ([...held.keys()][0] ?? button); // a release without a name is of the only button
            const isPress = !held.has(pressed);
            const isKnown = held.get(pressed) ?? row < 25;
            const code = isDrag && !isPress ? pressed + 32 : isPress || sgr ? pressed : 3;
            const end = isDrag || isPress ? 'M' : 'm';
            sent += place(code, row, end);
            if (isKnown) expected += place(code, Math.min(row, 24), end);
            if (isPress) held.set(pressed, isKnown);
            else if (!isDrag) held.delete(pressed);
          }
          const mouse = mouseOf(modes);
          expect(read(isCut ? bytes(sent) : [sent], { mouse })).toBe(expected);
        }),
      );
    },
  );

  it('about one of two buttons does not hide the click of the other', () => {
    const shown = read(['\x1b[<0;9;25M\x1b[<2;9;20M\x1b[<2;9;25m\x1b[<0;9;25m\x1b[<0;9;25m']);
    expect(shown).toBe('\x1b[<2;9;20M\x1b[<2;9;24m\x1b[<0;9;24m');
    expect(read(['\x1b[32;9;25M\x1b[34;9;20M\x1b[35;9;20M\x1b[35;9;20M'])).toBe('\x1b[34;9;20M\x1b[35;9;20M');
  });

  it('about the wheel on the footer does not hide the next click, for a wheel is never released', () => {
    const click = '\x1b[32;9;20M\x1b[35;9;20M';
    expect(read([`\x1b[97;9;25M\x1b[99;9;25M${click}`])).toBe(click);
  });

  it('about a click on the footer is not completed by a release after the footer has gone', () => {
    const mouse = mouseOf();
    expect(read(['\x1b[<0;9;25M'], { mouse })).toBe('');
    expect(read(['\x1b[<32;9;25M\x1b[<0;9;25m\x1b[<0;9;25M'], { mouse, geometry: undefined })).toBe(
      '\x1b[<0;9;25M',
    );
  });

  it('reaches the child unchanged while there is no footer', () => {
    const reports = '\x1b[8;25;80t\x1b[<0;10;25M\x1bP1$r25t\x1b\\';
    expect(read([reports], { geometry: undefined })).toBe(reports);
  });

  it('goes to the wrapper if it answers the wrapper’s query, otherwise to the child', () => {
    const answers = '\x1b[12;40R\x1b[?12;40;1R\x1b[>41;379;0c\x1b[0n';
    const kinds: readonly QueryKind[] = ['cursor', 'extended cursor', 'secondary attributes', 'status'];
    const taken = '<ANSWER 12;40R><ANSWER 12;40;1R><ANSWER 41;379;0c><ANSWER 0n>';
    expect(read([answers], asked(...kinds))).toBe(taken);
    expect(read(bytes(answers), asked(...kinds))).toBe(taken);
    expect(read([answers])).toBe(answers);
  });

  it('never goes to the wrapper where it may be F3 with a modifier', () => {
    const keys = Array.from({ length: 16 }, (_, column) => `\x1b[1;${column + 1}R`).join('');
    expect(read([keys], asked('cursor', 'cursor'))).toBe(keys);
    expect(read(['\x1b[1;17R'], asked('cursor'))).toBe('<ANSWER 1;17R>');
  });

  it('of its answer goes to the wrapper whole, also when the beginning had been passed on as keys, or it never ends', () => {
    const begun = readInput(startInput, '\x1b', context).state;
    const late = flushElements(begun).state;
    const { parts } = readInput(late, '[?3;4Rx', { ...context, ...asked('extended cursor') });
    expect(parts.map(({ type }) => type)).toEqual(['answer', 'forward']);
    const long = `\x1b]11;${'x'.repeat(300)}`;
    expect(read([long.slice(0, 90), long.slice(90), '\x07a'], asked('background'))).toBe(
      `<ANSWER ${'x'.repeat(85)}>a`,
    );
    expect(read(['\x1b[?3;', 'a'], asked('extended cursor'))).toBe('a');
  });
});

describe('every other byte', () => {
  it('reaches the child unchanged, whatever it is and however it is split', () => {
    const chunk = fc.uint8Array({ minLength: 1, maxLength: 40 });
    const keys = fc.constantFrom(
      '\x1b[A',
      '\x1b[200~',
      '\x1b[201~',
      '\x1b',
      '\x1b[',
      'é',
      '\x1b]0;x\x07',
      '\x1bP1$r',
      '\x1b[1;2R',
    );
    const pieces = fc.array(
      fc.oneof(
        chunk.map((values) => Buffer.from(values).toString('latin1')),
        keys,
      ),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(pieces, (parts) => {
        expect(read(parts, { hotkey: undefined, geometry: undefined })).toBe(parts.join(''));
      }),
    );
  });
});

describe('keys that look like the hotkey', () => {
  it('the hotkey with Alt is another key and goes to the child', () => {
    expect(read(['a\x1b\x1db'])).toBe('a\x1b\x1db');
    expect(read(['\x1b\x1b[93;5u'])).toBe('\x1b\x1b[93;5u');
    expect(read(['\x1b\x1b[12;40R\x1d'], asked('cursor'))).toBe('\x1b<ANSWER 12;40R><HOTKEY>');
  });

  it('a colour report of the terminal never contains the hotkey', () => {
    const colour = '\x1b]11;rgb:1/1/1\x07';
    expect(read([`${colour}\x07`], { hotkey: 0x07 })).toBe(`${colour}<HOTKEY>`);
    expect(read(bytes(`${colour}\x07`), { hotkey: 0x07 })).toBe(`${colour}<HOTKEY>`);
  });

  it('Ctrl-5 is the child’s where another key is the hotkey', () => {
    expect(read(['\x1b[53;5u'], { hotkey: 0x07 })).toBe('\x1b[53;5u');
  });
});

describe('the background of the terminal', () => {
  const answer = '\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\';
  it('is not passed on where the wrapper asked for it, also when it comes byte by byte', () => {
    expect(read([`a${answer}b`], asked('background'))).toBe('a<ANSWER rgb:1e1e/1e1e/1e1e>b');
    expect(read(bytes(`a${answer}b`), asked('background'))).toBe('a<ANSWER rgb:1e1e/1e1e/1e1e>b');
  });

  it('is passed on where the child asked, too', () => {
    const queries = makeQueryQueue();
    queries.addOwn('background');
    queries.addChild('background');
    expect(read([answer + answer], { queries })).toBe(`<ANSWER rgb:1e1e/1e1e/1e1e>${answer}`);
    expect(read([answer])).toBe(answer);
  });
});

describe('a paste', () => {
  /** Each piece arrives after the wait for the rest of the previous one is over. */
  const readSlowly = (pieces: readonly string[]): string => {
    let state = startInput;
    let seen = '';
    for (const piece of pieces) {
      const result = readInput(state, piece, context);
      for (const part of result.parts) seen += part.type === 'forward' ? part.element.text : '<OURS>';
      const flushed = flushElements(result.state);
      seen += textOf(flushed.elements);
      ({ state } = flushed);
    }
    return seen;
  };

  it('is recognized even if a slow line splits its markers', () => {
    const paste = '\x1b[200~a\x1db\x1b[201\x1d\x1b[201~';
    for (let at = 1; at < paste.length; at += 1)
      expect(readSlowly([paste.slice(0, at), `${paste.slice(at)}\x1d`])).toBe(`${paste}<OURS>`);
    expect(readSlowly([...paste, '\x1d'])).toBe(`${paste}<OURS>`);
  });

  it('without an end marker does not block the hotkey: pressed alone after a silence it works', () => {
    const begun = readInput(startInput, '\x1b[200~half', context).state;
    const pressed = (keys: string, isQuiet: boolean) =>
      readInput(begun, keys, { ...context, isQuiet }).parts.map(({ type }) => type);
    expect(pressed('\x1d', true)).toEqual(['hotkey']);
    expect(pressed('\x1b[93;5u', true)).toEqual(['hotkey']);
    expect(pressed('\x1d', false)).toEqual(['forward']);
    expect(pressed('text\x1d', true)).toEqual(['forward']);
  });

  it('loses an answer to the wrapper in the middle of it, wherever it is split, and nothing else', () => {
    const answers = '\x1b[?5;3R\x1b]11;rgb:1/2/3\x07';
    const taken = '<ANSWER 5;3R><ANSWER rgb:1/2/3>';
    const paste = `\x1b[200~\x1b[?25h\x1b[1${answers}ha\x1d${answers}lf\x1b[201~`;
    const expected = `\x1b[200~\x1b[?25h\x1b[1${taken}ha\x1d${answers}lf\x1b[201~<HOTKEY>`;
    for (let at = 1; at < paste.length; at += 1)
      expect(
        read([paste.slice(0, at), `${paste.slice(at)}\x1d`], asked('extended cursor', 'background')),
      ).toBe(expected);
    expect(read(bytes(`${paste}\x1d`), asked('extended cursor', 'background'))).toBe(expected);
  });
});
