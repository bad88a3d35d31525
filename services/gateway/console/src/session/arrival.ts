import { readSignInAnswer, TaskmeshError, type SignInAnswer } from '@taskmesh/client';
import { issueOf, NOT_BEGUN_HERE } from '../requests/explain.ts';
import type { ConsoleStorage } from './console-storage.ts';

/** What somebody goes to the sign-in provider for. */
export interface Errand {
  /** Whether they want to stay signed in on this device. */
  stay: boolean;
  /** The id of the user whose account is to be linked; null to sign in. */
  linkTo: string | null;
}

/** Somebody who comes back from the provider. */
export interface Arrival {
  errand: Errand;
  answer: SignInAnswer;
}

/** Begins as what the client keeps meanwhile, and stays in the tab as that does. */
const KEY = 'taskmesh.sign-in.errand';

export function keepErrand(storage: ConsoleStorage, errand: Errand): void {
  storage.setItem(KEY, JSON.stringify(errand));
}

/**
 * The provider's answer, which the address was opened with. It is taken out of the address at once: a reload does not meet it again.
 */
export function takeArrival(storage: ConsoleStorage): Arrival | undefined {
  const answer = readSignInAnswer(location.hash);
  if (!answer) return undefined;
  const kept = storage.getItem(KEY);
  storage.removeItem(KEY);
  const errand = kept === null ? undefined : (JSON.parse(kept) as Errand); // only we write there
  history.replaceState(history.state, '', errand?.linkTo ? '#/account' : '#/sign-in');
  // Who went nowhere from here was handed the address by somebody else, whose words are not repeated.
  return errand ? { errand, answer } : { errand: { stay: false, linkTo: null }, answer: NOT_BEGUN };
}

const NOT_BEGUN: SignInAnswer = { error: 'not_begun', description: '' };

/** What the provider's refusal means here. */
export function explainRefusal({ error, description }: { error: string; description: string }): string {
  if (error === 'not_begun') return NOT_BEGUN_HERE;
  if (error === 'access_denied') return 'You did not sign in at the provider, so nothing has changed here.';
  const said = description && ` It says: “${description}”`;
  return `The sign-in at the provider did not work. Please try again.${said}`;
}

/** Nobody sees the code here, so what is wrong with it is told as what they did. */
export function withoutCode(error: unknown): unknown {
  if (issueOf(error, 'code') === undefined) return error;
  return new TaskmeshError('BAD_USER_INPUT', 'This sign-in has expired. Please begin it again.', { cause: error });
}
