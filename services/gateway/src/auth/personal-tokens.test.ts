import { unavailable } from '@taskmesh/contracts';
import { hashPersonalToken, newPersonalToken } from '@taskmesh/identity';
import type { KnownToken } from '@taskmesh/internal-api';
import { createPersonalTokens } from './personal-tokens.ts';

const NOW_S = 1_800_000_000;
const MINUTE_S = 60;
const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE' };

function fixture() {
  const known: KnownToken = {
    ...{ id: 'token-1', scope: 'read', userId: 'ada', email: 'ada@example.com' },
    ...{ createdAt: NOW_S - 10, expiresAt: NOW_S + 86_400 },
  };
  const state = {
    nowS: NOW_S,
    answer: known as KnownToken | null,
    failure: undefined as Error | undefined,
    asked: [] as string[],
    /** Calls wait for this promise while it is set. */
    held: undefined as Promise<void> | undefined,
  };
  const { userOf } = createPersonalTokens({
    auth: {
      async findPersonalToken(hash) {
        state.asked.push(hash);
        await state.held;
        if (state.failure) throw state.failure;
        return state.answer;
      },
    },
    clock: { now: () => state.nowS * 1_000 },
  });
  const tokens = { userOf: (token: string, caller = 'somebody') => userOf(token, () => caller) };
  /** Makes calls wait until the returned function is called. */
  const hold = () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    state.held = promise;
    return resolve;
  };
  return { state, known, tokens, hold, token: newPersonalToken() };
}

describe('a personal token', () => {
  it('identifies its user, its scope and its expiry; auth sees only its hash', async () => {
    const { state, tokens, known, token } = fixture();
    const { id, userId, email, createdAt, expiresAt } = known;
    expect(await tokens.userOf(token)).toEqual({
      kind: 'user',
      claims: { userId, email, iat: createdAt, exp: expiresAt, sub: userId, sid: id, jti: id, key: undefined },
      identity: { role: 'user', userId, sessionId: id, scope: 'read' },
    });
    expect(state.asked.join()).not.toContain(token.slice(-20));
  });

  it('is looked up once a minute, and once for concurrent requests', async () => {
    const { state, tokens, token } = fixture();
    await Promise.all(Array.from({ length: 20 }, () => tokens.userOf(token)));
    state.nowS += MINUTE_S - 1;
    await tokens.userOf(token);
    expect(state.asked).toHaveLength(1);
    state.nowS++;
    state.answer = null;
    await tokens.userOf(token);
    await new Promise(setImmediate); // until auth has responded
    for (const _time of [1, 2, 3]) expect(await tokens.userOf(token)).toBeUndefined(); // invalid ones, too
    expect(state.asked).toHaveLength(2);
  });

  it('does not wait for a frozen auth if it is cached', async () => {
    const { state, tokens, token } = fixture();
    await tokens.userOf(token);
    state.held = new Promise(() => {});
    state.nowS += MINUTE_S;
    for (const _time of [1, 2, 3]) expect(await tokens.userOf(token)).toMatchObject({ kind: 'user' });
    expect(state.asked).toHaveLength(2);
  });

  it('stays valid while auth is unavailable, for at most an hour and never beyond its expiry', async () => {
    const { state, tokens, known, token } = fixture();
    await tokens.userOf(token);
    state.failure = unavailable();
    state.nowS += 59 * MINUTE_S;
    expect(await tokens.userOf(token)).toMatchObject({ kind: 'user' });
    state.nowS += MINUTE_S;
    await expect(tokens.userOf(token)).rejects.toMatchObject(UNAVAILABLE);
    await expect(tokens.userOf(newPersonalToken())).rejects.toMatchObject(UNAVAILABLE);

    state.failure = undefined;
    state.answer = { ...known, expiresAt: state.nowS + 30 };
    expect(await tokens.userOf(token)).toMatchObject({ kind: 'user' });
    state.failure = unavailable();
    state.nowS += 30;
    expect(await tokens.userOf(token)).toBeUndefined();
  });

  it('is not evicted by random tokens', async () => {
    const { state, tokens, known, token } = fixture();
    await tokens.userOf(token);
    state.answer = null;
    for (let tries = 0; tries < 50_001; tries++) await tokens.userOf(newPersonalToken());
    state.answer = known;
    state.failure = unavailable();
    expect(await tokens.userOf(token)).toMatchObject({ kind: 'user' });
  });

  it('does not wait for a caller who tries thousands: cached ones are accepted, and excess lookups are refused', async () => {
    const { state, tokens, token: known, hold } = fixture();
    await tokens.userOf(known);
    const release = hold();
    const tries = Array.from({ length: 2_000 }, () => tokens.userOf(newPersonalToken()).then(() => 'asked', () => 'refused')); // prettier-ignore
    expect(await tokens.userOf(known)).toMatchObject({ kind: 'user' });
    expect(state.asked).toHaveLength(1 + 64);
    release();
    expect((await Promise.all(tries)).filter((outcome) => outcome === 'asked')).toHaveLength(64 + 1_000);
  });

  it.each([1, 300])(
    'is looked up soon if it is unknown, however many random ones strangers at %i addresses try meanwhile',
    async (addresses) => {
      const { state, tokens, token, hold } = fixture();
      const release = hold();
      const attack = () => {
        for (let tries = 0; tries < 5_000; tries++)
          tokens.userOf(newPersonalToken(), `stranger ${tries % addresses}`).catch(() => undefined);
      };
      attack();
      const ada = tokens.userOf(token, 'ada');
      attack();
      release();
      expect(await ada).toMatchObject({ kind: 'user' });
      expect(state.asked.indexOf(hashPersonalToken(token))).toBeLessThanOrEqual(64 + addresses);
    },
  );

  it('does not stay in the queue when auth does not respond', async () => {
    const { state, tokens, hold } = fixture();
    const release = hold();
    const tries = Array.from({ length: 200 }, () => tokens.userOf(newPersonalToken()).catch((error: unknown) => error));
    state.failure = unavailable();
    release();
    for (const outcome of await Promise.all(tries)) expect(outcome).toMatchObject(UNAVAILABLE);
    expect(state.asked).toHaveLength(64);
    state.failure = undefined;
    expect(await tokens.userOf(newPersonalToken())).toMatchObject({ kind: 'user' });
  });
});
