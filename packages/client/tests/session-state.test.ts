import { LOADING, nextSession, type SessionEvent, type SessionState, type Tokens } from '../src/session-state.ts';

const tokensOf = (id: string, refreshToken = 'r'): Tokens => ({
  ...{ user: { id, email: id, name: id }, signInId: id, accessToken: 'a', refreshToken, refreshAt: 0 },
});
const within = (id: string, stayId = id, isStored = true): SessionState => ({
  ...{ kind: 'signed-in', tokens: tokensOf(id), isStored, signInId: id, stayId },
});
const ended = (id: string | undefined): SessionState => ({ kind: 'signed-out', signInId: id, stayId: id });
const left = (id: string): SessionState => ({ kind: 'signed-out', signInId: id, stayId: undefined });
/** `by`: of a sign-out or sign-in on another page. */
const found = (id?: string, by: { left?: string; signInId?: string } = {}): SessionEvent => ({
  ...{ kind: 'found', tokens: id === undefined ? undefined : tokensOf(id), ...by },
});
const kept = (id: string): SessionEvent => ({ kind: 'kept', tokens: tokensOf(id), isStored: true });
const signedIn = (id: string, as = id) => found(id, { signInId: as });
const signedOut = (by: string, id?: string) => found(id, { left: by });

it.each<[string, SessionState, SessionEvent, SessionState]>([
  ['starts with the stored session', LOADING, found('ada'), within('ada')],
  ['starts signed out when none is stored', LOADING, found(), ended(undefined)],
  ['follows another user', within('ada'), found('eve'), within('eve')],
  ['ends when the stored session is removed', within('ada'), found(), ended('ada')],
  ['ends with a sign-out on another page', within('ada'), signedOut('ada'), left('ada')],
  ['is left by a sign-out after it has ended', ended('ada'), signedOut('ada'), left('ada')],
  ['continues after a sign-out of another session', within('ada'), signedOut('ada 2', 'ada'), within('ada')],
  ['is another after a sign-out and the next sign-in', within('ada'), signedOut('ada', 'ada 2'), within('ada 2')],
  ['is left by a sign-out of a later one', ended('ada 1'), signedOut('ada 2'), left('ada 1')],
  ['is not left by a sign-out of an earlier one', ended('ada 2'), signedOut('ada 1'), ended('ada 2')],
  ['just ends when another user signs out', within('ada'), signedOut('eve'), ended('ada')],
  ['of this page alone is not replaced', within('ada', 'ada', false), found('eve'), within('ada', 'ada', false)],
  ['stays signed out while others refresh their tokens', ended('ada'), found('eve'), ended('ada')],
  ['follows a sign-in on another page', left('ada'), signedIn('eve'), within('eve')],
  ['continues on another page', ended('ada'), signedIn('ada'), within('ada')],
  ['follows no other than the announced', left('eve'), signedIn('ada', 'eve'), left('eve')],
  ['waits for its user once it has ended', ended('ada'), signedIn('eve'), ended('ada')],
  ['follows anybody after a start without', ended(undefined), signedIn('eve'), within('eve')],
  ['stays signed out until the sign-out reaches the storage', left('ada'), signedIn('ada'), left('ada')],
  ['starts with a sign-in', left('ada'), kept('eve'), within('eve')],
  ['is of the same stay for a user whose session has ended', ended('ada 1'), kept('ada 2'), within('ada 2', 'ada 1')],
  ['is of that stay from another page, too', ended('ada 1'), signedIn('ada 2'), within('ada 2', 'ada 1')],
  ['is of that stay while tokens are refreshed', within('ada 2', 'ada 1'), found('ada 2'), within('ada 2', 'ada 1')],
  ['is of another stay after a sign-out', left('ada 1'), kept('ada 2'), within('ada 2')],
  ['ends with a sign-out', within('ada'), { kind: 'left' }, left('ada')],
  ['ends when the server says so', within('ada'), { kind: 'ended' }, ended('ada')],
])('a session %s', (_what, before, event, after) => expect(nextSession(before, event)).toEqual(after));

it('adopts tokens that another page has refreshed', () => {
  const tokens = tokensOf('ada', 'newer');
  expect(nextSession(within('ada'), { kind: 'found', tokens })).toEqual({ ...within('ada'), tokens });
});
