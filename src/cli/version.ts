import { readFileSync } from 'node:fs';

/** As in our package.json, which lies beside the folder of the bundle. */
export const version = (): string => {
  const { version: found }: { version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return found;
};
