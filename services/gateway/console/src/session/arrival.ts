import { readSignInAnswer, TaskmeshError, type SignInAnswer } from '@taskmesh/client';
import { issueOf, NOT_BEGUN_HERE } from '../requests/explain.ts';
import type { ConsoleStorage } from './console-storage.ts';

/** Why the user is sent to the sign-in provider. */
export interface Errand {
  /** Whether the user stays signed in on this device. */
  stay: boolean;
  /** The id of the user who links the provider to their account; null for a sign-in. */
  linkTo: string | null;
}

/** The return of a user from the provider. */
export interface Arrival {
  errand: Errand;
  answer: SignInAnswer;
}

/** Has the prefix of the client's sign-in items, which the storage always keeps in the tab. */
const KEY = 'taskmesh.sign-in.errand';

export function keepErrand(storage: ConsoleStorage, errand: Errand): void {
  storage.setItem(KEY, JSON.stringify(errand));
}

/** Reads the provider's response from the address, and removes it there, so that a reload does not process it again. */
export function takeArrival(storage: ConsoleStorage): Arrival | undefined {
  const answer = readSignInAnswer(location.hash);
  if (!answer) return undefined;
  const kept = storage.getItem(KEY);
  storage.removeItem(KEY);
  const errand = parseErrand(kept);
  history.replaceState(history.state, '', errand?.linkTo ? '#/account' : '#/sign-in');
  // A sign-in that did not begin here may come from a crafted link, so its text is not shown.
  return errand ? { errand, answer } : { errand: { stay: false, linkTo: null }, answer: NOT_BEGUN };
}

/** Returns undefined if this version would not have written the text. */
function parseErrand(kept: string | null): Errand | undefined {
  try {
    const { stay, linkTo } = JSON.parse(kept ?? '{}') as Record<keyof Errand, unknown>;
    const isErrand = typeof stay === 'boolean' && (linkTo === null || typeof linkTo === 'string');
    return isErrand ? { stay, linkTo } : undefined;
  } catch {
    return undefined;
  }
}

const NOT_BEGUN: SignInAnswer = { error: 'not_begun', description: '' };

/** Explains to users why the provider refused the sign-in. */
export function explainRefusal({ error, description }: { error: string; description: string }): string {
  if (error === 'not_begun') return NOT_BEGUN_HERE;
  if (error === 'access_denied') return 'You did not sign in at the provider, so nothing has changed here.';
  const said = description && ` It says: “${description}”`;
  return `The sign-in at the provider did not work. Please try again.${said}`;
}

/** Reports an invalid code as an expired sign-in, because users never see the code. */
export async function withoutCode<Result>(attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt;
  } catch (error) {
    if (issueOf(error, 'code') === undefined) throw error;
    throw new TaskmeshError('BAD_USER_INPUT', 'This sign-in has expired. Please begin it again.', { cause: error });
  }
}
