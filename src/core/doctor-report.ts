// What `ctxwrap doctor` finds: facts, how serious each is, and what mends it.

export type CheckStatus = 'ok' | 'warn' | 'fail';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** one fact */
  readonly text: string;
  /** a command, or what to do; only where something is to be done */
  readonly fix?: string;
}

export interface CheckSection {
  readonly title: string;
  readonly checks: readonly Check[];
}

export interface DoctorReport {
  readonly schema: 'ctxwrap.doctor/1';
  readonly version: string;
  /** the worst of all */
  readonly status: CheckStatus;
  readonly sections: readonly CheckSection[];
}

/** What a terminal says of itself; undefined for what it did not answer. */
export interface TerminalAnswers {
  /** it has answered anything at all */
  readonly answers: boolean;
  /** its name and version: XTVERSION (xterm ctlseqs, `CSI > q`) */
  readonly name?: string;
  /** it draws frames at once: DECRQM of mode 2026 */
  readonly synchronized?: boolean;
  /** it speaks kitty's keyboard protocol: `CSI ? u` */
  readonly kittyKeyboard?: boolean;
}

export const doctorReport = (version: string, sections: readonly CheckSection[]): DoctorReport => {
  const found = sections.flatMap(({ checks }) => checks.map(({ status }) => status));
  const status = (['fail', 'warn'] as const).find((each) => found.includes(each)) ?? 'ok';
  return { schema: 'ctxwrap.doctor/1', version, status, sections };
};

export const ok = (name: string, text: string): Check => ({ name, status: 'ok', text });

export const warn = (name: string, text: string, fix?: string): Check => ({
  name,
  status: 'warn',
  text,
  ...(fix === undefined ? {} : { fix }),
});

export const fail = (name: string, text: string, fix?: string): Check => ({
  ...warn(name, text, fix),
  status: 'fail',
});
