/** What happens with a statement of a dump. */
export type Verdict =
  | { kind: 'run' }
  /** Runs, and the data behind it are its input. */
  | { kind: 'copy' }
  /** Has no effect on the rows. */
  | { kind: 'skip' }
  /** Something with the same meaning for us runs instead. */
  | { kind: 'replace'; text: string }
  | { kind: 'refuse'; reason: string };

export const RUN: Verdict = { kind: 'run' };
export const SKIP: Verdict = { kind: 'skip' };
export const refuse = (reason: string): Verdict => ({ kind: 'refuse', reason });
