import { present } from '../present.js';

// The findings of `ctxwrap doctor`: facts, their severity, and how to fix them.

/** `none`: not there, and it need not be: an agent that is not installed, a feature that is not used. */
export type CheckStatus = 'ok' | 'none' | 'warn' | 'fail';

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** one fact */
  readonly text: string;
  /** a command or an instruction; with `none`, what would add it */
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
  readonly status: Exclude<CheckStatus, 'none'>;
  /** how many checks have the status `fail` */
  readonly problems: number;
  /** how many checks have the status `warn` */
  readonly warnings: number;
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
  const count = (wanted: CheckStatus): number =>
    sections.flatMap(({ checks }) => checks).filter(({ status }) => status === wanted).length;
  const [problems, warnings] = [count('fail'), count('warn')];
  const status = problems > 0 ? 'fail' : warnings > 0 ? 'warn' : 'ok';
  return { schema: 'ctxwrap.doctor/1', version, status, problems, warnings, sections };
};

export const ok = (name: string, text: string): Check => ({ name, status: 'ok', text });

const withFix =
  (status: CheckStatus) =>
  (name: string, text: string, fix?: string): Check => ({
    name,
    status,
    text,
    ...present({ fix }),
  });

export const none = withFix('none');

export const warn = withFix('warn');

export const fail = withFix('fail');
