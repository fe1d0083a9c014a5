import { runtimes } from '../../runtimes/index.js';
import type { Runtime } from '../../runtimes/runtime.js';
import type { InitRequest } from '../request.js';
import { initText } from '../shell/init-text.js';

/** `ctxwrap init`: functions for our agents and the user's own, whether they are installed or not; the shell looks when it reads them. */
export const init = ({ shell, options }: InitRequest): string => {
  const own = options.configured?.runtimes ?? [];
  const ours = Object.values<Runtime>(runtimes).filter(({ name }) => own.every((each) => each.name !== name));
  const agents = [...ours, ...own].flatMap(({ name, command }) =>
    command === undefined ? [] : [{ word: name, program: command }],
  );
  return initText(shell, agents);
};
