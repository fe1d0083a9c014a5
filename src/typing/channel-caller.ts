// A caller of an agent's control channel, whatever the channel is.

/** What came of one call. */
export type Answer =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** it was not reached, or has said no */
  | { readonly kind: 'refused'; readonly reason: string }
  /** it was reached, and what it has done is not known */
  | { readonly kind: 'lost'; readonly reason: string };

/** The agent at the other end. Nothing rejects. */
export interface ChannelCaller<Call> {
  readonly call: (call: Call, waitMs: number) => Promise<Answer>;
  readonly close: () => void;
}
