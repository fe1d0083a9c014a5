import { present } from '../present.js';
import { quoteForCopying, toOneLine } from '../text.js';

// A problem in a configuration: what is wrong, where, why, and the command that fixes it. Whoever finds one writes its sentences.

/** By precedence, highest first. `agent` is the value that the running agent reports. */
export type LayerName = 'flag' | 'env' | 'project' | 'user' | 'agent' | 'default';

/** Line and column, from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The origin of a value. */
export interface Origin {
  readonly layer: LayerName;
  /** the option, the environment variable, or the file */
  readonly place?: string;
  /** the dotenv file that sets the variable */
  readonly file?: string;
  readonly at?: Position;
}

/** Each kind with what several of them are called. */
const kinds = {
  wrong: 'values are wrong',
  unknown: 'keys are unknown',
  /** a project's file may not set this value */
  refused: undefined,
  /** a boundary is higher than the one above it */
  order: undefined,
  /** a window larger than those of the backend's models; it is used nevertheless */
  capacity: undefined,
  /** auto lies above the point where agents compact by themselves, assuming their usual windows */
  native: undefined,
  /** another setting keeps this one from being used */
  unusable: undefined,
  /** the name occurs more than once; the last one counts */
  repeated: 'keys appear more than once',
  /** a file's text is not JSONC, or a line of a dotenv file is not a pair */
  syntax: 'lines are not valid',
  /** the file is not read */
  file: undefined,
  /** an agent defined by the user */
  definition: 'mistakes are in descriptions of agents',
} as const;

export interface Problem {
  readonly kind: keyof typeof kinds;
  /** `error`: a value is ignored; `warning`: for information */
  readonly level: 'error' | 'warning';
  readonly key?: string;
  readonly what: string;
  /** what is wrong and why in few words, for the footer */
  readonly short?: string;
  /** `FILE:LINE:COLUMN`, or an environment variable */
  readonly where: string;
  readonly why: string;
  /** a command */
  readonly fix: string;
  readonly origin: Origin;
  /** it stands for that many further problems of its kind */
  readonly more?: number;
}

/** A problem that was found there. Its fix is to edit the place, unless there is a better one. */
export const problemAt = (
  origin: Origin,
  problem: Omit<Problem, 'origin' | 'where' | 'fix'> & { readonly fix?: string },
): Problem => ({ fix: fixAt(origin), ...problem, where: placeOf(origin), origin });

/** Where the value is. */
export const placeOf = ({ place = '', file, at, layer }: Origin): string => {
  if (layer === 'env' && file !== undefined) return place === '' ? file : `${place} in ${file}`;
  return at ? `${place}:${at.line}:${at.column}` : place;
};

/** The command that corrects what is there; `value` is a right one. */
export const fixAt = ({ layer, place = '', file, at }: Origin, value?: string): string => {
  if (layer === 'flag') return `ctxwrap ${place} ${value ?? 'VALUE'} …`;
  if (layer !== 'env') return editCommand(place, at?.line);
  if (file !== undefined) return editCommand(file);
  // other names have other values
  return value === undefined || !place.startsWith('CTXWRAP_')
    ? `unset ${place}`
    : `export ${place}='${value}'`;
};

/** Opens the file, or else the user's configuration, in the user's editor. */
export const editCommand = (path?: string, line?: number): string =>
  `\${EDITOR:-vi}${line === undefined ? '' : ` +${line}`} ${path === undefined ? '"$(ctxwrap config path)"' : quoteForCopying(path)}`;

/** A name that someone else may have written, quoted so that it cannot pass for one of ctxwrap's own sentences. */
export const keyText = (key: string): string =>
  /^[\w.$-]{1,60}$/.test(key) ? key : toOneLine(JSON.stringify(key), LONGEST_KEY);

const LONGEST_KEY = 40; // characters

/** Further problems of one kind and file, which are only counted. */
export const moreProblems = (
  count: number,
  { kind, level, origin }: Pick<Problem, 'kind' | 'level' | 'origin'>,
): Problem =>
  problemAt(withoutPlace(origin), {
    kind,
    level,
    more: count,
    what: `${count} more ${kinds[kind] ?? 'problems of one kind'}`,
    why: 'only the first ones are listed',
  });

/** An environment variable belongs to one problem only, and so does a position. */
const withoutPlace = ({ layer, file, place }: Origin): Origin =>
  layer === 'env' ? { layer, ...present({ file }) } : { layer, ...present({ place }) };

/** Per kind and file. A user with more problems opens the file anyway, and each one takes time to format. */
export const MOST_TOLD = 10;

/** The first problems of each kind and file, followed by the number of the others. */
export const limitProblems = (problems: readonly Problem[]): readonly Problem[] => {
  const groups = new Map<string, { count: number; first: Problem; isError: boolean }>();
  const shown = problems.filter((problem) => {
    const name = groupOf(problem);
    const group = groups.get(name) ?? { count: 0, first: problem, isError: false };
    group.count += problem.more ?? 1;
    if (group.count > MOST_TOLD) group.isError ||= problem.level === 'error';
    groups.set(name, group);
    return group.count <= MOST_TOLD;
  });
  const untold = [...groups.values()].filter(({ count }) => count > MOST_TOLD);
  return [
    ...shown,
    ...untold.map(({ count, first, isError }) =>
      moreProblems(count - MOST_TOLD, { ...first, level: isError ? 'error' : 'warning' }),
    ),
  ];
};

/** The number of problems, including those that are only counted. */
export const countProblems = (problems: readonly Problem[]): number =>
  problems.reduce((sum, { more = 1 }) => sum + more, 0);

const groupOf = ({ kind, origin: { layer, file, place } }: Problem): string =>
  JSON.stringify([layer, layer === 'env' ? file : place, kind]);
