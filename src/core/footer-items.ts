/** What a footer can show. `message` is what is done about a full window, a notice, or why there is no number. */
export const footerItems = [
  'runtime',
  'model',
  'bar',
  'percent',
  'used',
  'tier',
  'compactions',
  'message',
] as const;

export type FooterItem = (typeof footerItems)[number];
