import { allRuntimes } from '../all-runtimes.js';
import type { InitRequest } from '../request.js';
import { initText } from '../shell/init-text.js';

/** `ctxwrap init`: functions for our agents and the user's own, whether they are installed or not; the shell looks when it reads them. */
export const init = ({ shell, options }: InitRequest): string => {
  const agents = allRuntimes(options.configured?.runtimes).flatMap(({ name, command }) =>
    command === undefined ? [] : [{ word: name, program: command }],
  );
  return initText(shell, agents);
};
