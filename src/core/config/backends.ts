// Kinds of model servers and their assumed windows, from the documentation of BACKEND (verified there 2026-01-28). These numbers are used
// only if no agent reports a window.

const backends = {
  claude: 200_000,
  openai: 128_000,
  gemini: 1_000_000,
  ollama: 8_192,
  vllm: 32_768,
  custom: 32_768,
} as const;

export type BackendName = keyof typeof backends;

export const backendNames = Object.keys(backends) as readonly BackendName[];

const MILLION = 1_000_000;

// the largest window of the backend's models, if known; other backends run the user's own models
const capacities: Readonly<Record<string, number>> = {
  claude: MILLION,
  openai: 1_047_576,
  gemini: 1_048_576,
};

/** The largest window in tokens of the backend's models; undefined if unknown. */
export const backendCapacity = (backend: unknown): number | undefined =>
  typeof backend === 'string' && Object.hasOwn(capacities, backend) ? capacities[backend] : undefined;

interface BackendValues {
  readonly backend?: BackendName;
  /** Claude's models have a window of a million tokens */
  readonly 'claude.million'?: boolean;
}

/** The assumed window in tokens of the backend's models; without a backend, Claude's. */
export const backendWindow = ({ backend = 'claude', 'claude.million': isMillion }: BackendValues): number =>
  isMillion && backend === 'claude' ? MILLION : backends[backend];

interface Assumption {
  /** the agent's own windows are known */
  readonly isKnown: boolean;
  /** the window in tokens that the user states for the agent's models, if there is such a setting */
  readonly ownTokens?: number | undefined;
}

/** The window in tokens to assume if nobody reports one; undefined if the user has configured nothing about it. */
export const assumedWindow = (
  backend: BackendName | undefined,
  { isKnown, ownTokens }: Assumption,
): number | undefined => {
  if (ownTokens !== undefined) return ownTokens;
  // another program's variable does not tell what is custom about a known agent
  if (backend === undefined || (backend === 'custom' && isKnown)) return undefined;
  return backends[backend];
};

// As the documentation of COMPACTION_STRATEGY says. A summary needs somebody who writes it: without a summariser that is the agent.
const strategies: Readonly<Record<string, 'truncate' | 'summarize'>> = {
  openai: 'summarize',
  gemini: 'summarize',
  vllm: 'summarize',
  ollama: 'truncate',
  custom: 'truncate',
};

/** The usual strategy for the backend's models; undefined for the agent's own command. */
export const backendStrategy = (backend: string | undefined): 'truncate' | 'summarize' | undefined =>
  backend !== undefined && Object.hasOwn(strategies, backend) ? strategies[backend] : undefined;
