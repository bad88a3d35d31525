import { TaskmeshError } from '@taskmesh/client';

export const NOT_STARTED_HERE = 'This sign-in did not begin in this tab. Please start again here.';

/** Sentences by error code. */
const SENTENCES: Partial<Record<string, string>> = {
  NETWORK: 'The server cannot be reached. Check your connection, then try again.',
  SERVICE_UNAVAILABLE: 'The server cannot do this right now. Please try again in a moment.',
  INTERNAL_SERVER_ERROR: 'Something went wrong on the server. Please try again.',
  QUEUE_FULL: 'Too many changes are waiting for the connection: this one was not accepted.',
  STORAGE: 'This browser did not store the change: it was not sent.',
  OUTCOME_UNKNOWN: 'It is unclear whether this was done. Please check before you do it again.',
  SIGN_IN_NOT_BEGUN: NOT_STARTED_HERE,
  NOT_FOUND: 'It no longer exists.',
};

/** Explains an error in words for users, or for operators. */
export function explain(error: unknown): string {
  if (!(error instanceof TaskmeshError)) return 'Something went wrong on this page. Please reload it.';
  const { code, message, issues, retryAfterMs } = error;
  if (code === 'OPERATORS') return message;
  if (code === 'RATE_LIMITED')
    return `That was tried too often. Please wait ${formatWait(retryAfterMs)}, then try again.`;
  return SENTENCES[code] ?? (issues.map((issue) => asSentence(issue.message)).join(' ') || asSentence(message));
}

/** Returns the message about this field, if any. */
export function issueOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof TaskmeshError)) return undefined;
  const issue = error.issues.find(({ path }) => path.split('.').at(-1) === field);
  return issue && asSentence(issue.message);
}

/** Returns the error, or undefined if these fields already show all of its issues. */
export function otherThan(fields: ReadonlySet<string>, error: unknown): unknown {
  if (!(error instanceof TaskmeshError) || error.issues.length === 0) return error;
  return error.issues.every(({ path }) => fields.has(path.split('.').at(-1) ?? '')) ? undefined : error;
}

/** Messages may begin with the name of a field, such as `dueDate must be …`. */
function asSentence(message: string): string {
  const [first = '', ...others] = message.split(' ');
  if (first.includes('@')) return message; // an e-mail address, not a field name
  if (first === 'email') return ['E-mail', ...others].join(' ');
  const isFieldName = /^[a-z]+(?:[A-Z][a-z]*)+$/.test(first);
  const words = isFieldName ? first.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`) : first;
  return [words.charAt(0).toUpperCase() + words.slice(1), ...others].join(' ');
}

function formatWait(ms: number): string {
  if (ms < 1_000) return 'a moment';
  const seconds = Math.ceil(ms / 1_000);
  if (seconds < 90) return `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
