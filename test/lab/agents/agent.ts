// What the lab needs to know of an agent beyond VerifiableAgent: its npm package, and its keys, dialogs and modes.
import type { Agent } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import type { VerifiableAgent } from '../../../src/verify/agents.js';
import type { NamedTool } from '../../../src/verify/mock/api.js';

/** A place in an agent's interface where the wrapper must not type. */
export type PlaceName =
  | 'slash popup'
  | 'model picker'
  | 'rewind'
  | 'transcript'
  | 'history search'
  | 'shell mode'
  | 'vim normal';

export interface Place {
  /** the keys that open it from an empty prompt, pressed one after the other */
  readonly keys: readonly string[];
  /** what the screen shows there */
  readonly shows: RegExp;
  /** the keys that leave it */
  readonly back: readonly string[];
}

/** The agent's own tool for a plan. */
export interface PlanTool {
  /** how the model calls it for a plan with this open item */
  readonly call: (item: string) => NamedTool;
  /** the agent with this tool, where it needs to be told */
  readonly adapt?: (agent: LabAgent) => LabAgent;
  /** the plan is where ctxwrap does not read it */
  readonly isUnreadable?: true;
}

export interface LabAgent extends VerifiableAgent {
  /** the version that is installed by default */
  readonly version: string;
  /** the npm packages of this version */
  readonly npmName: string;
  /** its command that starts another conversation */
  readonly clear: string;
  /** its arguments for a mode in which no tool asks for permission; they replace the same ones of `args` */
  readonly unasked: readonly string[];
  readonly plan: PlanTool;
  /** tokens at which it compacts by itself when the next turn begins */
  readonly ownTrigger: number;
  /** it does so at the end of the turn already */
  readonly compactsAtOnce?: true;
  /** after a failure its next turn makes the summary and gives no answer */
  readonly retriesItself?: true;
  /** at least one version reports its state to the terminal (OSC 7501) */
  readonly tellsState: boolean;
  /** the key for vim's insert mode and the text that shows the mode, for an agent that starts in normal mode */
  readonly vimStart?: { readonly key: string; readonly shows: RegExp };
  /** Esc stops a running compaction */
  readonly canInterrupt: boolean;
  /** when pressed twice */
  readonly stopsAtSecondEsc?: true;
  /** ctxwrap can type the command during a turn, and the agent runs it after the turn */
  readonly canQueue: boolean;
  /** matches its prompt, for an agent of which some version shows none while it compacts and ignores keys then */
  readonly goingPrompt?: RegExp;
  /** the argument with which it does without its background server */
  readonly embedded?: string;
  /** the folder in the home to which it copies itself, hundreds of megabytes each time: removed after a session */
  readonly copies?: string;
  /** its command for a list of sessions, in which the second is the one before, and what the list shows */
  readonly sessionList?: { readonly command: string; readonly shows: RegExp };
  /** the key that stashes a draft */
  readonly stash?: string;
  readonly places: Readonly<Partial<Record<PlaceName, Place>>>;
  /** for an agent whose model can be changed in a session */
  readonly otherModels?: OtherModels | undefined;
  /** the arguments that start it with a window of a million, in place of earlier ones */
  readonly largeModel?: readonly string[];
}

/** A model as the user chooses it. */
export interface OtherModel {
  readonly keys: readonly string[];
  /** what ctxwrap shows then */
  readonly footer: RegExp;
}

export interface OtherModels {
  /** full in the small window, and safe in the large one */
  readonly usedTokens: number;
  readonly large: OtherModel;
  /** of the same size as the one that it starts with */
  readonly small: OtherModel;
  /** the agent may ask again, and Enter confirms */
  readonly asks?: RegExp;
  /** the agent with the windows that its models have by themselves */
  readonly adapt?: (agent: LabAgent) => LabAgent;
}

/** What ctxwrap knows about the agent. */
export const definitionOf = ({ name }: Pick<LabAgent, 'name'>): Agent | undefined =>
  Object.values<Agent>(agents).find((each) => each.name === name);

/** It can be told to go on with another session while it runs. */
export const canSwitch = (agent: LabAgent): boolean =>
  definitionOf(agent)?.newSessions?.switching !== undefined;

/** The agent in the mode in which no tool asks. */
export const withoutAsking = (agent: LabAgent): LabAgent => ({
  ...agent,
  args: (installed) => {
    const { unasked } = agent;
    const usual = agent.args(installed);
    const isReplaced = (index: number): boolean => unasked.includes(usual[index] ?? '');
    return [...usual.filter((_, index) => !isReplaced(index) && !isReplaced(index - 1)), ...unasked];
  },
});

/** The agent with the text of each of its files changed. */
export const withFiles =
  (change: (text: string) => string) =>
  (agent: LabAgent): LabAgent => ({
    ...agent,
    files: (sandbox) =>
      Object.fromEntries(Object.entries(agent.files(sandbox)).map(([path, text]) => [path, change(text)])),
  });

/** The agent with its background server, where it has one. */
export const withBackground = (agent: LabAgent): LabAgent => ({
  ...agent,
  args: (installed) => agent.args(installed).filter((each) => each !== agent.embedded),
});

export { BACKSPACE, ENTER, ESC } from '../../../src/verify/agents.js';
const CTRL_MASK = 0x1f;

export const ctrl = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) & CTRL_MASK);
