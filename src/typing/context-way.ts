// A way to give the model context without the user's prompt: the agent reads it beside the next message, or at once.

export interface ContextWay {
  /** what becomes of a text, after "gives it back": `with your next message` */
  readonly words: string;
  /** replaces a text that was not read yet; never rejects */
  readonly send: (text: string) => Promise<SentContext>;
  /** takes back a text that was not read yet */
  readonly withdraw: () => void;
}

export type SentContext =
  /** it is in the conversation */
  | { readonly kind: 'sent' }
  /** it goes with the user's next message; `read` resolves when the agent has read it, and never otherwise */
  | { readonly kind: 'waiting'; readonly read: Promise<void> }
  | { readonly kind: 'refused'; readonly reason: string };
