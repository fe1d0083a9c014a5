// Kinds of models and the windows that they are taken to have, as the document that names BACKEND has them (verified there 2026-01-28).
// Agents tell better: these numbers are used only where nobody else gives one.

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

// what their models have at most, as far as it is known; the models of the others are the user's own
const capacities: Readonly<Record<string, number>> = {
  claude: MILLION,
  openai: 1_047_576,
  gemini: 1_048_576,
};

/** The largest window in tokens that the models of this backend have; undefined where that is not known. */
export const backendCapacity = (backend: unknown): number | undefined =>
  typeof backend === 'string' && Object.hasOwn(capacities, backend) ? capacities[backend] : undefined;

interface BackendValues {
  readonly backend?: BackendName;
  /** Claude's models have a million */
  readonly 'claude.million'?: boolean;
}

/** The window in tokens that the models of the backend, Claude's when nobody names one, are taken to have. */
export const backendWindow = ({ backend = 'claude', 'claude.million': isMillion }: BackendValues): number =>
  isMillion && backend === 'claude' ? MILLION : backends[backend];

interface Assumption {
  /** the agent is one whose own windows are known */
  readonly isKnown: boolean;
  /** the window in tokens that the user says its models have, where there is such a setting */
  readonly ownTokens?: number | undefined;
}

/** The window in tokens that is used where nobody tells one; undefined where the user has said nothing of it. */
export const assumedWindow = (
  backend: BackendName | undefined,
  { isKnown, ownTokens }: Assumption,
): number | undefined => {
  if (ownTokens !== undefined) return ownTokens;
  // what is custom about an agent that we know cannot be told from a variable of another program
  if (backend === undefined || (backend === 'custom' && isKnown)) return undefined;
  return backends[backend];
};
