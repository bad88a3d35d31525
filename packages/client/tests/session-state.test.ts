import { LOADING, nextSession, type SessionEvent, type SessionState, type Tokens } from '../src/session-state.ts';

const tokensOf = (id: string, refreshToken = 'r'): Tokens => ({
  user: { id, email: id, name: id },
  accessToken: 'a',
  refreshToken,
  refreshAt: 0,
});
const signedIn = (id: string, isStored = true): SessionState => ({
  kind: 'signed-in',
  tokens: tokensOf(id),
  isStored,
});
const signedOut = (userId: string | undefined, isLeft = false): SessionState => ({
  kind: 'signed-out',
  userId,
  isLeft,
});
const found = (id?: string, left?: string): SessionEvent => ({
  kind: 'found',
  tokens: id === undefined ? undefined : tokensOf(id),
  left,
});

it.each<[string, SessionState, SessionEvent, SessionState]>([
  ['begins with the stored session', LOADING, found('ada'), signedIn('ada')],
  ['begins signed out without one', LOADING, found(), signedOut(undefined)],
  ['follows another user', signedIn('ada'), found('eve'), signedIn('eve')],
  ['ends when nothing is stored any more', signedIn('ada'), found(), signedOut('ada')],
  ['is left when the user signs out in another page', signedIn('ada'), found(undefined, 'ada'), signedOut('ada', true)],
  ['is left also if it had ended before', signedOut('ada'), found(undefined, 'ada'), signedOut('ada', true)],
  ['goes on if the same user left another session', signedIn('ada'), found('ada', 'ada'), signedIn('ada')],
  ['ends without being left when another user signs out', signedIn('ada'), found(undefined, 'eve'), signedOut('ada')],
  [
    'is not replaced by stored tokens if it could not be stored',
    signedIn('ada', false),
    found('eve'),
    signedIn('ada', false),
  ],
  ['stays signed out when somebody signs in in another page', signedOut('ada'), found('eve'), signedOut('ada')],
  [
    'is signed in by a sign-in',
    signedOut('ada', true),
    { kind: 'kept', tokens: tokensOf('eve'), isStored: true },
    signedIn('eve'),
  ],
  ['is left by a sign-out', signedIn('ada'), { kind: 'left' }, signedOut('ada', true)],
  ['ends when the server says so', signedIn('ada'), { kind: 'ended' }, signedOut('ada')],
])('a session %s', (_what, before, event, after) => {
  expect(nextSession(before, event)).toEqual(after);
});

it('takes over the tokens that another page has refreshed', () => {
  const tokens = tokensOf('ada', 'newer');
  expect(nextSession(signedIn('ada'), { kind: 'found', tokens })).toEqual({
    kind: 'signed-in',
    tokens,
    isStored: true,
  });
});
