import type { Options } from '../request.js';

export interface VerifyRequest {
  readonly kind: 'verify';
  /** every one that is installed when absent */
  readonly agent?: string;
  /** what was recorded stays, also when all is well */
  readonly keep: boolean;
  readonly json: boolean;
  /** set where ctxwrap has started itself in a place without a network: what is to be played there, as JSON */
  readonly order?: string;
  readonly options: Options;
}
