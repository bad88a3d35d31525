import { readSignInAnswer, TaskmeshError, type SignInAnswer } from '@taskmesh/client';
import { issueOf, NOT_STARTED_HERE } from '../requests/explain.ts';
import type { ConsoleStorage } from './console-storage.ts';

/** Why the user is sent to the sign-in provider. */
export interface PendingSignIn {
  /** Whether the user stays signed in on this device. */
  stay: boolean;
  /** The id of the user who links the provider to their account; null for a sign-in. */
  linkTo: string | null;
}

/** The return of a user from the provider. */
export interface Arrival {
  pending: PendingSignIn;
  result: SignInAnswer;
}

/** Has the prefix of the client's sign-in items, which the storage always keeps in the tab. */
const KEY = 'taskmesh.sign-in.errand';

export function storePendingSignIn(storage: ConsoleStorage, pending: PendingSignIn): void {
  storage.setItem(KEY, JSON.stringify(pending));
}

/** Reads the provider's response from the address, and removes it there, so that a reload does not process it again. */
export function consumeArrival(storage: ConsoleStorage): Arrival | undefined {
  const result = readSignInAnswer(location.hash);
  if (!result) return undefined;
  const kept = storage.getItem(KEY);
  storage.removeItem(KEY);
  const pending = parsePendingSignIn(kept);
  history.replaceState(history.state, '', pending?.linkTo ? '#/account' : '#/sign-in');
  // A sign-in that did not begin here may come from a crafted link, so its text is not shown.
  return pending ? { pending, result } : { pending: { stay: false, linkTo: null }, result: NOT_BEGUN };
}

/** Returns undefined if this version would not have written the text. */
function parsePendingSignIn(kept: string | null): PendingSignIn | undefined {
  try {
    const { stay, linkTo } = JSON.parse(kept ?? '{}') as Record<keyof PendingSignIn, unknown>;
    const isErrand = typeof stay === 'boolean' && (linkTo === null || typeof linkTo === 'string');
    return isErrand ? { stay, linkTo } : undefined;
  } catch {
    return undefined;
  }
}

const NOT_BEGUN: SignInAnswer = { error: 'not_begun', description: '' };

/** Explains to users why the provider refused the sign-in. */
export function explainRefusal({ error, description }: { error: string; description: string }): string {
  if (error === 'not_begun') return NOT_STARTED_HERE;
  if (error === 'access_denied') return 'You did not sign in at the provider, so nothing has changed here.';
  const reason = description && ` It says: “${description}”`;
  return `The sign-in at the provider did not work. Please try again.${reason}`;
}

/** Reports an invalid code as an expired sign-in, because users never see the code. */
export async function withoutCode<Result>(attempt: Promise<Result>): Promise<Result> {
  try {
    return await attempt;
  } catch (error) {
    if (issueOf(error, 'code') === undefined) throw error;
    throw new TaskmeshError('BAD_USER_INPUT', 'This sign-in has expired. Please start again.', { cause: error });
  }
}
