const light = {
  screen: '#ffffff',
  edge: '#d0d7de',
  text: '#1f2328',
  palette: [
    '#24292f',
    '#cf222e',
    '#116329',
    '#7d5600',
    '#0969da',
    '#8250df',
    '#1b7c83',
    '#57606a',
    '#57606a',
    '#a40e26',
    '#1a7f37',
    '#633c01',
    '#218bff',
    '#a475f9',
    '#3192aa',
    '#8c959f',
  ],
} as const;

const dark = {
  screen: '#161b22',
  edge: '#30363d',
  text: '#d1d7e0',
  palette: [
    '#484f58',
    '#ff7b72',
    '#3fb950',
    '#d29922',
    '#58a6ff',
    '#bc8cff',
    '#39c5cf',
    '#b1bac4',
    '#6e7681',
    '#ffa198',
    '#56d364',
    '#e3b341',
    '#79c0ff',
    '#d2a8ff',
    '#56d4dd',
    '#ffffff',
  ],
} as const;

/** What stands behind, around and in a terminal: for readers with a light and with a dark background, and on a black one. */
export const terminalColors = { light, dark, black: { ...dark, screen: '#000000' } } as const;

/** Of the 216 colours and 24 greys above the first 16, which terminals do not let the user change. */
export const paletteColor = (index: number): string => {
  const grey = 8 + 10 * (index - 232);
  const parts =
    index >= 232 ? [grey, grey, grey] : [36, 6, 1].map((step) => level(Math.floor((index - 16) / step) % 6));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
};

const level = (step: number): number => (step === 0 ? 0 : 55 + 40 * step);
