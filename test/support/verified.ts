import type { VerifiedRecord } from '../../src/core/report/records.js';

/** The record of `ctxwrap verify` for a version of an agent, with this many passed checks. */
export const verifiedRecord = (
  agent: string,
  agentVersion: string,
  good = 2,
  checks = 2,
): VerifiedRecord => ({
  schema: 'ctxwrap.verified/1',
  agent,
  agentVersion,
  version: '0.1.0',
  at: Date.UTC(2026, 10, 22),
  seconds: 60,
  place: 'namespace',
  checks: Array.from({ length: checks }, (_, index) => ({
    name: `check ${index + 1}`,
    isGood: index < good,
    evidence: 'seen',
  })),
});
