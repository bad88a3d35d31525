import { TaskmeshError } from '../src/errors.ts';
import type { Post, PostOptions } from '../src/http.ts';
import { exclusively } from '../src/locks.ts';
import { CHANGE_NAME, LOGIN, LOGOUT, READ_TASK, REFRESH_SESSION } from '../src/operations.generated.ts';
import { createSession } from '../src/session.ts';
import { createMemoryStorage, type Storage } from '../src/storage.ts';
import { createManualTime } from './support/manual-time.ts';

const LIFE_S = 100;
const CREDENTIALS = { email: 'ada@example.com', password: 'a long and private phrase' };

/** An account service that knows one living token of each kind for each user. */
function createAccounts() {
  const living = { access: new Set<string>(), refresh: new Map<string, string>() };
  const sent: { document: string; token: string | undefined }[] = [];
  let tokens = 0;
  let isAway = false;
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
        return { logout: living.access.delete(token ?? '') };
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
    await new Promise((resolve) => setTimeout(resolve, 5));
    return answer(document, variables, token);
  }) as Post;
  return {
    post,
    count: (document: string) => sent.filter((each) => each.document === document).length,
    readBy: (userId: string) =>
      sent.filter(({ document, token }) => document === READ_TASK && token?.endsWith(`of ${userId}`)).length,
    /** As if all had expired. */
    endAccess: () => living.access.clear(),
    endRefresh: () => living.refresh.clear(),
    goAway: (away: boolean) => void (isAway = away),
  };
}

function createWorld(storage: Storage = createMemoryStorage()) {
  const accounts = createAccounts();
  const time = createManualTime();
  const open = () => createSession({ post: accounts.post, storage, exclusively, time });
  return { accounts, time, storage, open, session: open() };
}

const read = ({ request }: ReturnType<typeof createSession>) => request(READ_TASK, { id: '1' });

describe('a token that is refused', () => {
  it('is refreshed once for all that were refused with it, and each is sent once more', async () => {
    const { accounts, session } = createWorld();
    await session.signIn(CREDENTIALS);
    accounts.endAccess();
    await Promise.all([read(session), read(session), read(session)]);
    expect(accounts.count(REFRESH_SESSION)).toBe(1);
    expect(accounts.count(READ_TASK)).toBe(6);
  });

  it('is refreshed once among all pages that share a storage', async () => {
    const { accounts, session, open } = createWorld();
    await session.signIn(CREDENTIALS);
    const pages = [open(), open(), open()];
    await Promise.all(pages.map(read));
    accounts.endAccess();
    await Promise.all(pages.map(read));
    expect(accounts.count(REFRESH_SESSION)).toBe(1);
  });

  it('ends the session when it cannot be refreshed, and is not tried a third time', async () => {
    const { accounts, session, storage } = createWorld();
    await session.signIn(CREDENTIALS);
    accounts.endAccess();
    accounts.endRefresh();
    const heard: unknown[] = [];
    session.subscribe(() => heard.push(session.user()));
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(heard).toEqual([null]);
    expect(await storage.getItem('taskmesh.session')).toBeNull();
    expect(accounts.count(READ_TASK)).toBe(1);
  });

  it('stays while the server cannot be asked', async () => {
    const { accounts, session, time } = createWorld();
    await session.signIn(CREDENTIALS);
    await time.pass(LIFE_S * 1_000);
    accounts.goAway(true);
    await expect(read(session)).rejects.toMatchObject({ code: 'NETWORK' });
    accounts.goAway(false);
    await read(session);
    expect(session.user()?.id).toBe(CREDENTIALS.email);
  });
});

it('a token that is about to expire is refreshed before it is used', async () => {
  const { accounts, session, time } = createWorld();
  await session.signIn(CREDENTIALS);
  await time.pass(LIFE_S * 1_000 * 0.95);
  await read(session);
  expect(accounts.count(REFRESH_SESSION)).toBe(1);
  expect(accounts.count(READ_TASK)).toBe(1);
});

it('a session that is stored goes on in another page', async () => {
  const { session, open } = createWorld();
  await session.signIn(CREDENTIALS);
  const next = open();
  expect(next.user()).toBeUndefined();
  await read(next);
  expect(next.user()?.id).toBe(CREDENTIALS.email);
});

it('another name is told, and stored for the next page', async () => {
  const { session, open } = createWorld();
  await session.signIn(CREDENTIALS);
  const heard: unknown[] = [];
  session.subscribe(() => heard.push(session.user()?.name));
  await session.changeName('Ada');
  expect(heard).toEqual(['Ada']);
  const next = open();
  await read(next);
  expect(next.user()?.name).toBe('Ada');
});

describe('what one user asked for is never sent as another one', () => {
  it('who has signed in in another page', async () => {
    const { accounts, session, open } = createWorld();
    await session.signIn(CREDENTIALS);
    accounts.endAccess();
    const other = open();
    await other.signIn({ ...CREDENTIALS, email: 'eve@example.com' });
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(session.user()?.id).toBe('eve@example.com');
  });

  // While it is asked for, while its token is refreshed, and while it is sent once more.
  const moments = [0, 2, 4, 7, 9, 12].flatMap((ms) => [
    [ms, 'that can be refreshed'],
    [ms, 'that cannot'],
  ]) as [number, string][];
  it.each(moments)(
    'who has signed in in this one meanwhile (%i ms later, after a session %s)',
    async (laterMs, which) => {
      const { accounts, session, storage } = createWorld();
      await session.signIn(CREDENTIALS);
      accounts.endAccess();
      if (which === 'that cannot') accounts.endRefresh();
      const asked = read(session).catch(({ code }: TaskmeshError) => code);
      await new Promise((resolve) => setTimeout(resolve, laterMs));
      await session.signIn({ ...CREDENTIALS, email: 'eve@example.com' });
      expect(['SIGNED_OUT', { task: null }]).toContainEqual(await asked);
      expect(accounts.readBy('eve@example.com')).toBe(0);
      expect(session.user()?.id).toBe('eve@example.com');
      expect(await storage.getItem('taskmesh.session')).toContain('eve@example.com');
    },
  );
});

it('signing out forgets the tokens, also without a network', async () => {
  const { accounts, session, storage } = createWorld();
  await session.signIn(CREDENTIALS);
  accounts.goAway(true);
  await session.signOut();
  expect(session.user()).toBeNull();
  expect(await storage.getItem('taskmesh.session')).toBeNull();
  await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
});

/** One that takes its time, as those of phones do. */
function createSlowStorage(): Storage {
  const items = new Map<string, string>();
  const later = <Result>(work: () => Result) => new Promise<Result>((resolve) => setTimeout(() => resolve(work()), 3));
  return {
    getItem: (key) => later(() => items.get(key) ?? null),
    setItem: (key, value) => later(() => items.set(key, value)),
    removeItem: (key) => later(() => items.delete(key)),
  };
}

describe('a refresh that ends while somebody signs out or in, and the storage is slow', () => {
  const moments = [...Array(16).keys()];
  it.each(moments)('leaves nobody signed in who has signed out (%i ms later)', async (laterMs) => {
    const { accounts, session, storage } = createWorld(createSlowStorage());
    await session.signIn(CREDENTIALS);
    accounts.endAccess();
    const asked = read(session).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    await session.signOut();
    await asked;
    expect(session.user()).toBeNull();
    expect(await storage.getItem('taskmesh.session')).toBeNull();
  });

  it.each(moments)('leaves the one signed in who has signed in (%i ms later)', async (laterMs) => {
    const { accounts, session, storage } = createWorld(createSlowStorage());
    await session.signIn(CREDENTIALS);
    accounts.endAccess();
    const asked = read(session).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    await session.signIn({ ...CREDENTIALS, email: 'eve@example.com' });
    await asked;
    expect(session.user()?.id).toBe('eve@example.com');
    expect(await storage.getItem('taskmesh.session')).toContain('eve@example.com');
  });
});

it('a storage that is broken or holds nonsense is nobody signed in', async () => {
  const nonsense = createMemoryStorage();
  await nonsense.setItem('taskmesh.session', '{');
  const broken: Storage = { ...nonsense, getItem: () => Promise.reject(new Error('broken')) };
  for (const storage of [nonsense, broken]) {
    const { session } = createWorld(storage);
    await expect(read(session)).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(session.user()).toBeNull();
  }
});
