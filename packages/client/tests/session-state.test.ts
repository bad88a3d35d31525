import { LOADING, nextSession, type SessionEvent, type SessionState, type Tokens } from '../src/session-state.ts';

const tokensOf = (id: string, refreshToken = 'r'): Tokens => ({
  user: { id, email: id, name: id },
  signInId: id,
  accessToken: 'a',
  refreshToken,
  refreshAt: 0,
});
const signedIn = (id: string, isStored = true, stayId = id): SessionState => ({
  kind: 'signed-in',
  tokens: tokensOf(id),
  isStored,
  signInId: id,
  stayId,
});
const signedOut = (id: string | undefined, hasLeft = false): SessionState => ({
  kind: 'signed-out',
  signInId: id,
  stayId: hasLeft ? undefined : id,
});
const found = (id?: string, left?: string, signInId?: string): SessionEvent => ({
  kind: 'found',
  tokens: id === undefined ? undefined : tokensOf(id),
  left,
  signInId,
});

it.each<[string, SessionState, SessionEvent, SessionState]>([
  ['starts with the stored session', LOADING, found('ada'), signedIn('ada')],
  ['starts signed out when none is stored', LOADING, found(), signedOut(undefined)],
  ['follows another user', signedIn('ada'), found('eve'), signedIn('eve')],
  ['ends when the stored session is removed', signedIn('ada'), found(), signedOut('ada')],
  ['ends with a sign-out on another page', signedIn('ada'), found(undefined, 'ada'), signedOut('ada', true)],
  ['is left by a sign-out after it has ended', signedOut('ada'), found(undefined, 'ada'), signedOut('ada', true)],
  ['continues after a sign-out of another session', signedIn('ada'), found('ada', 'ada 2'), signedIn('ada')],
  ['is another after a sign-out and the next sign-in', signedIn('ada'), found('ada 2', 'ada'), signedIn('ada 2')],
  ['is left by a sign-out of a later one', signedOut('ada 1'), found(undefined, 'ada 2'), signedOut('ada 1', true)],
  ['is not left by a sign-out of an earlier one', signedOut('ada 2'), found(undefined, 'ada 1'), signedOut('ada 2')],
  ['just ends when another user signs out', signedIn('ada'), found(undefined, 'eve'), signedOut('ada')],
  [
    'is not replaced by stored tokens if it could not be stored',
    signedIn('ada', false),
    found('eve'),
    signedIn('ada', false),
  ],
  ['stays signed out while others refresh their tokens', signedOut('ada'), found('eve'), signedOut('ada')],
  ['follows a sign-in on another page', signedOut('ada', true), found('eve', undefined, 'eve'), signedIn('eve')],
  ['continues on another page', signedOut('ada'), found('ada', undefined, 'ada'), signedIn('ada')],
  [
    'follows no other than the announced',
    signedOut('eve', true),
    found('ada', undefined, 'eve'),
    signedOut('eve', true),
  ],
  ['waits for its user once it has ended', signedOut('ada'), found('eve', undefined, 'eve'), signedOut('ada')],
  ['follows anybody after a start without', signedOut(undefined), found('eve', undefined, 'eve'), signedIn('eve')],
  [
    'stays signed out until the sign-out reaches the storage',
    signedOut('ada', true),
    found('ada', undefined, 'ada'),
    signedOut('ada', true),
  ],
  [
    'starts with a sign-in',
    signedOut('ada', true),
    { kind: 'kept', tokens: tokensOf('eve'), isStored: true },
    signedIn('eve'),
  ],
  [
    'is of the same stay for the user whose session has ended',
    signedOut('ada 1'),
    { kind: 'kept', tokens: tokensOf('ada 2'), isStored: true },
    signedIn('ada 2', true, 'ada 1'),
  ],
  [
    'is of the same stay when that user signs in on another page',
    signedOut('ada 1'),
    found('ada 2', undefined, 'ada 2'),
    signedIn('ada 2', true, 'ada 1'),
  ],
  [
    'is of the same stay while tokens are refreshed',
    signedIn('ada 2', true, 'ada 1'),
    found('ada 2'),
    signedIn('ada 2', true, 'ada 1'),
  ],
  [
    'is of another stay after a sign-out',
    signedOut('ada 1', true),
    { kind: 'kept', tokens: tokensOf('ada 2'), isStored: true },
    signedIn('ada 2'),
  ],
  ['ends with a sign-out', signedIn('ada'), { kind: 'left' }, signedOut('ada', true)],
  ['ends when the server says so', signedIn('ada'), { kind: 'ended' }, signedOut('ada')],
])('a session %s', (_what, before, event, after) => {
  expect(nextSession(before, event)).toEqual(after);
});

it('adopts tokens that another page has refreshed', () => {
  const tokens = tokensOf('ada', 'newer');
  expect(nextSession(signedIn('ada'), { kind: 'found', tokens })).toEqual({
    kind: 'signed-in',
    tokens,
    isStored: true,
    signInId: 'ada',
    stayId: 'ada',
  });
});
