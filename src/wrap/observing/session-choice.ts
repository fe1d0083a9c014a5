import type { Located } from '../../runtimes/runtime.js';

/** Which session file is followed, and what was learnt on the way. */
export interface Choice {
  readonly current?: Located;
  /** files that were followed before */
  readonly left: readonly string[];
  /** files of another process: they grew in turns with ours */
  readonly foreign: readonly string[];
}

export const noChoice: Choice = { left: [], foreign: [] };

/**
 * The choice after another look; the same object when nothing changes, also when a session's file is gone: following it tells that. Where a session is only guessed from which file grew, a
 * file that grows again after we left it shows that two agents write in this folder: the one in between is not ours.
 */
export const chooseSession = (choice: Choice, found: Located): Choice => {
  const { current, left, foreign } = choice;
  const isSame = current?.sessionId === found.sessionId;
  if (isSame && (found.path === current.path || found.path === undefined)) return choice;
  const isGuess = !found.certain && found.path !== undefined;
  if (isGuess && foreign.includes(found.path)) return choice;
  const leaving = current?.path === undefined ? [] : [current.path];
  const isBack = isGuess && left.includes(found.path);
  return {
    current: found,
    left: [...left, ...leaving],
    foreign: isBack ? [...foreign, ...leaving] : foreign,
  };
};
