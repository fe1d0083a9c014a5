// The findings of `ctxwrap doctor`: facts, their severity, and how to fix them.

export type CheckStatus = 'ok' | 'warn' | 'fail';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** one fact */
  readonly text: string;
  /** a command or an instruction; only if something is to be done */
  readonly fix?: string;
}

export interface CheckSection {
  readonly title: string;
  readonly checks: readonly Check[];
}

export interface DoctorReport {
  readonly schema: 'ctxwrap.doctor/1';
  readonly version: string;
  /** the most severe status of all checks */
  readonly status: CheckStatus;
  readonly sections: readonly CheckSection[];
}

/** A terminal's answers about itself; undefined fields were not answered. */
export interface TerminalAnswers {
  /** it answered at least one query */
  readonly answers: boolean;
  /** its name and version: XTVERSION (xterm ctlseqs, `CSI > q`) */
  readonly name?: string;
  /** it supports synchronized output: DECRQM of mode 2026 */
  readonly synchronized?: boolean;
  /** it supports kitty's keyboard protocol: `CSI ? u` */
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
