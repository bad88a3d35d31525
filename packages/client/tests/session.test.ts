import { eventually } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { TaskmeshError } from '../src/errors.ts';
import { createPost, type Post, type PostOptions } from '../src/http.ts';
import { CHANGE_NAME, LOGIN, LOGOUT, READ_TASK, REFRESH_SESSION } from '../src/operations.generated.ts';
import { createSession, type Session } from '../src/session.ts';
import { createMemoryStorage, type Storage } from '../src/storage.ts';
import { realTime } from '../src/time.ts';
import { createManualTime } from './support/manual-time.ts';
import { createBrokenStorage, createTestStorage } from './support/test-storage.ts';

const LIFE_S = 100;
const CREDENTIALS = { email: 'ada@example.com', password: 'a long and private phrase' };
const EVE = { ...CREDENTIALS, email: 'eve@example.com' };
const KEY = 'taskmesh.session';

/** An account service that issues and checks tokens. */
function createAccounts() {
  const living = { access: new Set<string>(), refresh: new Map<string, string>() };
  const sent: { document: string; token: string | undefined }[] = [];
  let tokens = 0;
  let isAway = false;
  /** How long each operation takes in milliseconds, or the promise that it waits for. */
  const durations: Record<string, number | Promise<void>> = {};
  const open = (userId: string) => {
    const accessToken = `access ${++tokens} of ${userId}`;
    const refreshToken = `refresh ${tokens}`;
    living.access.add(accessToken);
    living.refresh.set(refreshToken, userId);
    return { accessToken, refreshToken, expiresIn: LIFE_S, user: { id: userId, email: userId, name: userId } };
  };
  const answer = (document: string, variables: Record<string, unknown>, token: string | undefined): object => {
    if (isAway) throw new TaskmeshError('NETWORK', 'away');
    switch (document) {
      case LOGIN:
        return { login: open((variables['input'] as { email: string }).email) };
      case REFRESH_SESSION: {
        const given = variables['refreshToken'] as string;
        const userId = living.refresh.get(given);
        if (userId === undefined || !living.refresh.delete(given)) throw new TaskmeshError('UNAUTHENTICATED', 'used');
        return { refreshSession: open(userId) };
      }
      case LOGOUT:
        if (!living.access.delete(token ?? '')) throw new TaskmeshError('UNAUTHENTICATED', 'no');
        living.refresh.delete((token ?? '').replace(/^access (\d+) of .*$/, 'refresh $1'));
        return { logout: true };
      default:
        if (token === undefined || !living.access.has(token)) throw new TaskmeshError('UNAUTHENTICATED', 'no');
        if (document === CHANGE_NAME) {
          const id = token.split(' of ')[1] ?? '';
          return { changeName: { id, email: id, name: variables['name'] } };
        }
        return { task: null };
    }
  };
  const post = (async (document: string, variables: Record<string, unknown>, { token }: PostOptions = {}) => {
    sent.push({ document, token });
    const duration = durations[document] ?? 5;
    await (typeof duration === 'number' ? sleep(duration) : duration);
    return answer(document, variables, token);
  }) as Post;
  return {
    post,
    count: (document: string) => sent.filter((each) => each.document === document).length,
    readBy: (userId: string, number: number | '' = '') =>
      sent.filter(({ document, token }) => document === READ_TASK && token?.endsWith(`${number} of ${userId}`)).length,
    /** Expires all access tokens. */
    endAccess: () => living.access.clear(),
    endRefresh: () => living.refresh.clear(),
    /** The number of sessions that can be refreshed. */
    sessions: () => living.refresh.size,
    takes: (document: string, duration: number | Promise<void>) => void (durations[document] = duration),
    goAway: (away: boolean) => void (isAway = away),
  };
}

function createWorld(storage: Storage = createMemoryStorage()) {
  const accounts = createAccounts();
  const time = createManualTime();
  const open = () => createSession({ post: accounts.post, storage, time });
  return { accounts, time, storage, open, session: open() };
}

/** The same, where the user of `CREDENTIALS` has signed in. */
async function signedIn(storage?: Storage) {
  const world = createWorld(storage);
  await world.session.signIn(CREDENTIALS);
  return world;
}

/** The same with another page of the user that shares the storage. */
async function twoPages(storage?: Storage) {
  const world = await signedIn(storage);
  const other = world.open();
  await read(other);
  return { ...world, other };
}

const read = ({ request }: ReturnType<typeof createSession>) => request(READ_TASK, { id: '1' });

function failure(code: string): Promise<never> {
  const failed = Promise.reject(new TaskmeshError(code, code));
  failed.catch(() => undefined);
  return failed;
}

it('a sign-out after the server has ended the session is one for the other pages, too', async () => {
  const { accounts, session, other } = await twoPages();
  accounts.endAccess();
  accounts.endRefresh();
  await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  expect(other.stayId()).toBeDefined();
  await session.signOut();
  await eventually(() => expect(other.stayId()).toBeUndefined());
});

describe('a rejected token', () => {
  it('is refreshed once for all requests that it failed, and each request is repeated once', async () => {
    const { accounts, session } = await signedIn();
    accounts.endAccess();
    await Promise.all([read(session), read(session), read(session)]);
    expect(accounts.count(REFRESH_SESSION)).toBe(1);
    expect(accounts.count(READ_TASK)).toBe(6);
  });

  it('is refreshed by only one of the pages that share a storage', async () => {
    const { accounts, open } = await signedIn();
    const pages = [open(), open(), open()];
    await Promise.all(pages.map(read));
    accounts.endAccess();
    await Promise.all(pages.map(read));
    expect(accounts.count(REFRESH_SESSION)).toBe(1);
  });

  it('ends the session if it cannot be refreshed, and is not used again', async () => {
    const { accounts, session, storage } = await signedIn();
    accounts.endAccess();
    accounts.endRefresh();
    const heard: unknown[] = [];
    session.subscribe(() => heard.push(session.user()));
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(heard).toEqual([null]);
    expect(await storage.getItem(KEY)).toBeNull();
    expect(accounts.count(READ_TASK)).toBe(1);
  });

  it('is kept while the server is unreachable', async () => {
    const { accounts, session, time } = await signedIn();
    await time.pass(LIFE_S * 1_000);
    accounts.goAway(true);
    await expect(read(session)).rejects.toMatchObject({ code: 'NETWORK' });
    accounts.goAway(false);
    await read(session);
    expect(session.user()?.id).toBe(CREDENTIALS.email);
  });
});

it.each([true, false])(
  'uses a token that is about to expire only if it cannot be refreshed (%s)',
  async (canRefresh) => {
    const { accounts, session, time } = await signedIn();
    await time.pass(LIFE_S * 1_000 * 0.95);
    if (!canRefresh) accounts.takes(REFRESH_SESSION, failure('NETWORK'));
    await read(session);
    expect([accounts.count(REFRESH_SESSION), accounts.count(READ_TASK), accounts.sessions()]).toEqual([1, 1, 1]);
    expect(accounts.readBy(CREDENTIALS.email, canRefresh ? 2 : 1)).toBe(1);
  },
);

it('reports a changed name and stores it for the next page', async () => {
  const { session, open } = await signedIn();
  const heard: unknown[] = [];
  session.subscribe(() => heard.push(session.user()?.name));
  await session.changeName('Ada');
  expect(heard).toEqual(['Ada']);
  const next = open();
  await read(next);
  expect(next.user()?.name).toBe('Ada');
});

it.each([
  ['the page', 1],
  ['another page', 20],
])('a change of the name during a refresh of tokens keeps the new tokens of %s', async (which, ms) => {
  const { accounts, session, open, storage } = await signedIn();
  const refreshing = which === 'the page' ? session : open();
  const token = (await refreshing.token()) ?? '';
  accounts.takes(CHANGE_NAME, ms);
  await Promise.all([session.changeName('Ada'), refreshing.refresh(token)]);
  expect(await storage.getItem(KEY)).toContain('refresh 2');
  accounts.endAccess();
  await read(session);
  expect(session.user()).toMatchObject({ id: CREDENTIALS.email });
});

it('works in a browser that refuses channels between pages', async () => {
  const channel = jest.spyOn(globalThis, 'BroadcastChannel').mockImplementation(() => {
    throw new Error('SecurityError');
  });
  const { session } = await signedIn();
  channel.mockRestore();
  expect(session.user()?.id).toBe(CREDENTIALS.email);
});

// FORBIDDEN: of a server that does not trust the document, as during an update.
it.each(['INTERNAL_SERVER_ERROR', 'FORBIDDEN'])(
  'reports a refresh that fails with %s as transient, because it says nothing about the request',
  async (code) => {
    const { accounts, session } = await signedIn();
    accounts.endAccess();
    accounts.takes(REFRESH_SESSION, failure(code));
    await expect(read(session)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: code });
  },
);

describe('tokens that cannot be stored', () => {
  let isFull: boolean;
  let storage: Storage;
  beforeEach(() => {
    isFull = true;
    storage = createTestStorage((operation) => {
      if (operation === 'setItem' && isFull) throw new Error('full');
    });
  });

  it('last as long as the page, even when they are refreshed', async () => {
    const { accounts, session } = await signedIn(storage);
    for (let times = 0; times < 3; times++) {
      accounts.endAccess();
      await read(session);
    }
    expect(session.user()?.id).toBe(CREDENTIALS.email);
    accounts.endAccess();
    accounts.endRefresh();
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  });

  it('do not replace the session that another page has stored meanwhile', async () => {
    const { accounts, session, open } = await signedIn(storage);
    isFull = false;
    const other = open();
    await other.signIn(EVE);
    session.close(); // has received no message of the other page
    accounts.endAccess();
    await read(session).catch(() => undefined);
    accounts.endRefresh();
    accounts.endAccess();
    await read(session).catch(() => undefined);
    expect(await storage.getItem(KEY)).toContain(EVE.email);
  });

  it('leave no used tokens in the storage, and are stored again when there is room', async () => {
    isFull = false;
    const { accounts, session, open } = await signedIn(storage);
    isFull = true;
    accounts.endAccess();
    await read(session);
    expect(await storage.getItem(KEY)).toBeNull();
    isFull = false;
    accounts.endAccess();
    await read(session);
    await read(open());
    expect(accounts.sessions()).toBe(1);
  });
});

it.each(['can be refreshed', 'cannot be refreshed', 'is being refreshed'])(
  'never sends a request as another user, after a sign-in on this page during the request, whose session %s',
  async (which) => {
    // During the request, during the refresh of its token, and during its repetition.
    const moments = [0, 2, 4, 7, 9, 12].map(async (laterMs) => {
      const { accounts, session, storage, time } = await signedIn();
      if (which === 'is being refreshed') {
        accounts.takes(REFRESH_SESSION, 20); // longer than the sign-in
        await time.pass(LIFE_S * 1_000 * 0.95);
      } else accounts.endAccess();
      if (which === 'cannot be refreshed') accounts.endRefresh();
      const asked = read(session).catch(({ code }: TaskmeshError) => code);
      await sleep(laterMs);
      await session.signIn(EVE);
      expect(['SIGNED_OUT', { task: null }]).toContainEqual(await asked);
      expect([laterMs, accounts.readBy(EVE.email), session.user()?.id]).toEqual([laterMs, 0, EVE.email]);
      expect(await storage.getItem(KEY)).toContain(EVE.email);
    });
    await Promise.all(moments);
  },
);

it('discards the tokens on sign-out, even offline, and ends the session on the server, even with an expired token', async () => {
  const [offline, expired] = [await signedIn(), await signedIn()];
  offline.accounts.goAway(true);
  expired.accounts.endAccess();
  for (const { session, storage } of [offline, expired]) {
    await session.signOut();
    expect([session.user(), await storage.getItem(KEY)]).toEqual([null, null]);
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  }
  expect(expired.accounts.sessions()).toBe(0);
});

it('forgets the user on sign-out even if the storage fails, and reports the failure', async () => {
  const { accounts, session } = await signedIn(createBrokenStorage('removeItem'));
  await expect(session.signOut()).rejects.toThrow('broken');
  expect([session.user(), accounts.sessions()]).toEqual([null, 0]);
});

describe('signing out while the storage does not respond', () => {
  let held: Promise<never> | undefined;
  const stop = () => void (held = new Promise(() => undefined));
  let storage: Storage;
  beforeEach(() => {
    held = undefined;
    storage = createTestStorage(() => held);
  });

  it('forgets the user at once and ends the session on the server after the timeout', async () => {
    const { accounts, session, time } = await signedIn(storage);
    stop();
    const signedOut = session.signOut();
    await Promise.resolve();
    expect([session.user(), session.stayId()]).toEqual([null, undefined]);
    const outcome = expect(signedOut).rejects.toMatchObject({ code: 'STORAGE' });
    await time.pass(5_000);
    await outcome;
    expect(accounts.sessions()).toBe(0);
  });

  it('fails with STORAGE even before the stored session has been read', async () => {
    stop();
    const { session, time } = createWorld(storage);
    const outcome = expect(session.signOut()).rejects.toMatchObject({ code: 'STORAGE' });
    await time.pass(10_000);
    await outcome;
    expect(session.user()).toBeNull();
  });
});

it('gives a refresh more time than other operations', async () => {
  const user = { id: 'ada', email: 'ada', name: 'Ada' };
  const tokens = (expiresIn: number) => ({ user, accessToken: 'access', refreshToken: 'refresh', expiresIn });
  const slow = async (signal: AbortSignal, data: object) => {
    await sleep(200, undefined, { signal });
    return Response.json({ data });
  };
  const fetch = (async (_url: string, { body, signal }: { body: string; signal: AbortSignal }) => {
    const { query } = JSON.parse(body) as { query: string };
    if (query === LOGIN) return Response.json({ data: { login: tokens(0) } });
    return query === REFRESH_SESSION ? slow(signal, { refreshSession: tokens(LIFE_S) }) : slow(signal, { task: null });
  }) as typeof globalThis.fetch;
  const post = createPost({ url: 'http://taskmesh.test', fetch, timeoutMs: 50 });
  const session = createSession({ post, storage: createMemoryStorage(), time: realTime });
  await session.signIn(CREDENTIALS);
  expect(await session.token()).toBe('access');
  await expect(read(session)).rejects.toMatchObject({ code: 'NETWORK' });
});

it('does not make clients with separate storages wait for each other', async () => {
  const [slow, quick] = [createWorld(), createWorld()];
  for (const { session } of [slow, quick]) await session.signIn(CREDENTIALS);
  const { promise: held, resolve: goOn } = Promise.withResolvers<void>();
  slow.accounts.takes(REFRESH_SESSION, held);
  for (const { accounts } of [slow, quick]) accounts.endAccess();
  const late = read(slow.session);
  await read(quick.session);
  goOn();
  await late;
});

it('refreshes tokens of another page before using them if they have expired, too', async () => {
  const { accounts, session, other, time } = await twoPages();
  session.close(); // receives no messages of the other page
  accounts.endAccess();
  await read(other);
  await time.pass(LIFE_S * 1_000);
  accounts.endAccess();
  await read(session);
  expect([accounts.count(REFRESH_SESSION), accounts.count(READ_TASK)]).toEqual([2, 4]);
});

it.each([
  ['keeps the user signed out after a sign-out', ({ signOut }: Session) => signOut(), undefined],
  ['keeps the new user signed in after a sign-in', ({ signIn }: Session) => signIn(EVE), EVE.email],
])('a refresh that ends at any time, with a slow storage, %s', async (_what, act, userId) => {
  const moments = Array.from({ length: 16 }, async (_, laterMs) => {
    // As slow as those on phones.
    const { accounts, session, storage } = await signedIn(createTestStorage(() => sleep(3)));
    accounts.endAccess();
    const asked = read(session).catch(() => undefined);
    await sleep(laterMs);
    await act(session);
    await asked;
    const stored = JSON.parse((await storage.getItem(KEY)) ?? '{}') as { user?: { id: string } };
    expect([laterMs, session.user()?.id, stored.user?.id]).toEqual([laterMs, userId, userId]);
  });
  await Promise.all(moments);
});

describe('a slow refresh on one page', () => {
  const lateRefresh = async () => {
    const world = await twoPages();
    const { accounts, other } = world;
    accounts.endAccess();
    accounts.takes(REFRESH_SESSION, 40);
    const late = read(other).catch(({ code }: TaskmeshError) => code);
    await sleep(15);
    return { ...world, late };
  };

  it('does not sign a user in again after a sign-out on another page', async () => {
    const { session, other, late, storage } = await lateRefresh();
    await session.signOut();
    expect(await late).toBe('SIGNED_OUT');
    expect(await storage.getItem(KEY)).toBeNull();
    expect([session.user(), other.user()]).toEqual([null, null]);
  });

  it.each([
    ['succeeds', () => {}],
    ['is rejected', ({ accounts }: Awaited<ReturnType<typeof lateRefresh>>) => accounts.endRefresh()],
  ])('keeps the user who has signed in on another page if the refresh %s', async (_what, prepare) => {
    const world = await lateRefresh();
    const { session, late, storage, open, accounts } = world;
    prepare(world);
    await session.signOut();
    await session.signIn(EVE);
    expect(await late).toBe('SIGNED_OUT');
    expect(await storage.getItem(KEY)).toContain(EVE.email);
    const next = open();
    await read(next);
    expect(next.user()?.id).toBe(EVE.email);
    expect(accounts.readBy(EVE.email)).toBe(1);
  });
});

it('a sign-out on a page that still shows a previous user keeps the stored session of another user', async () => {
  const { session, other, storage } = await twoPages();
  session.close(); // receives no messages of the other page
  await other.signIn(EVE);
  await session.signOut();
  expect(session.user()).toBeNull();
  expect(await storage.getItem(KEY)).toContain(EVE.email);
});

const STORED = {
  user: { id: 'ada', email: 'ada@example.com', name: 'Ada' },
  accessToken: 'access 1 of ada',
  refreshToken: 'refresh 1',
  refreshAt: 1,
};
it.each([
  '{',
  '{}',
  '5',
  '[]',
  'null',
  '"text"',
  JSON.stringify({ ...STORED, user: undefined }),
  JSON.stringify({ ...STORED, user: { id: 1, email: 'ada@example.com', name: 'Ada' } }),
  JSON.stringify({ ...STORED, refreshToken: null }),
  JSON.stringify({ ...STORED, signInId: 5 }),
  JSON.stringify({ ...STORED, refreshAt: 'soon' }),
  JSON.stringify({ version: 0, session: STORED }),
])('starts signed out if the storage has %s, and a sign-in replaces it', async (stored) => {
  const storage = createMemoryStorage();
  await storage.setItem(KEY, stored);
  const { session, open } = createWorld(storage);
  await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  expect(session.user()).toBeNull();
  await session.signOut();
  await session.signIn(CREDENTIALS);
  await read(session);
  await read(open());
});

it.each([
  ['continues the ended session of the same user', CREDENTIALS.email, true],
  ['begins another after a sign-out', CREDENTIALS.email, false],
  ['begins another for a user whose id begins alike', `${CREDENTIALS.email}0`, false],
])('a sign-in on a new page %s', async (_what, email, continues) => {
  const { accounts, session, open, time } = await signedIn();
  const first = session.stayId();
  accounts.endAccess();
  accounts.endRefresh();
  await read(session).catch(() => undefined);
  if (!continues && email === CREDENTIALS.email) await session.signOut();
  await time.pass(1);
  const next = open();
  await next.signIn({ ...CREDENTIALS, email });
  expect(next.stayId() === first).toBe(continues);
});

it('continues a session that version 0.2.0 has stored until its sign-out', async () => {
  const storage = createMemoryStorage();
  await storage.setItem(KEY, JSON.stringify({ ...STORED, refreshAt: Date.UTC(2030, 0, 1) }));
  const { accounts, session, time } = createWorld(storage);
  await session.token();
  expect(session.stayId()).toBe('ada');
  await time.pass(1);
  await session.signIn({ ...CREDENTIALS, email: 'ada' });
  expect(session.stayId()).toBe('ada');
  accounts.endAccess();
  await read(session);
  expect(await storage.getItem(KEY)).toContain('"signInId":"ada"');
  await session.signOut();
  expect(await storage.getItem(KEY)).toBeNull();
  await session.signIn({ ...CREDENTIALS, email: 'ada' });
  expect(session.stayId()).toMatch(/^ada \d+$/);
});

it('keeps the user signed in if the storage briefly cannot be read, and starts signed out', async () => {
  let isBroken = false;
  let reads = 0;
  const storage = createTestStorage((operation) => {
    if (operation !== 'getItem' || !isBroken) return;
    reads += 1;
    throw new Error('broken');
  });
  const { session, open, other } = await twoPages(storage);
  isBroken = true;
  await other.signIn(EVE); // notifies the page
  await eventually(() => expect(reads).toBeGreaterThan(1)); // the page has looked as well
  expect(session.user()?.id).toBe(CREDENTIALS.email);
  const next = open();
  await expect(read(next)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  expect(next.user()).toBeNull();
});
