import { footerItems, type FooterItem } from '../core/footer-items.js';
import { badValue, unknownItem } from './messages.js';
import { nearest } from './nearest.js';

/** The first name that no item has, and the item it may have been meant for. */
export interface WrongItem {
  readonly wrong: string;
  readonly nearest: FooterItem | undefined;
}

/** Items of the footer in the order they were named; one that is named twice stands where it was first. */
export const readFooterItems = (names: readonly string[]): readonly FooterItem[] | WrongItem => {
  const isItem = (name: string): name is FooterItem => footerItems.some((item) => item === name);
  const wrong = names.find((name) => !isItem(name));
  if (wrong === undefined) return [...new Set(names.filter(isItem))];
  const close = nearest(wrong, footerItems);
  return { wrong, nearest: footerItems.find((item) => item === close) };
};

export const parseFooterItems = (text: string): readonly FooterItem[] => {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) throw badValue('--footer-items', 'a list of items', text, 'bar,percent,tier');
  const items = readFooterItems(names);
  if ('wrong' in items) throw unknownItem('--footer-items', items, footerItems);
  return items;
};
