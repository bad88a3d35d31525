import { createDice } from '@taskmesh/testing';
import { createClient, type Client } from '../../src/client.ts';
import type { TaskmeshError } from '../../src/errors.ts';
import * as operations from '../../src/operations.generated.ts';
import { createMemoryStorage, nameOf } from '../../src/storage.ts';
import { settled } from '../support/manual-time.ts';
import { createModelServer } from './model-server.ts';

const USERS = ['ada', 'eve'];
const MAX_TIME_MS = 10 * 60_000;

interface Page {
  client: Client;
  /** Of its storage. Without Web Locks, nothing else runs under this name. */
  name: string;
  isSuspended: boolean;
  isClosed: boolean;
  signIns: number;
  /** How many of the sign-ins it has noticed. */
  noticed: number;
  /** What the browser will run in this page: messages in their order, responses and timers in any. */
  messages: (() => void)[];
  events: (() => void)[];
  timers: { at: number; call: () => void }[];
  stopList: (() => void) | undefined;
  /** Ends its requests. */
  abort: AbortController;
}

interface Written {
  title: string;
  user: string;
  page: Page;
  /** `done`, or the code of the error. */
  outcome?: string;
  /** The user has signed out since, so that it may be done or not. */
  isDiscarded: boolean;
  /** A sign-out has ended before anything more was sent, so that it must not be sent any more. */
  isOver?: boolean;
  wasStored?: boolean;
  /** Another user has signed in since, so that it may be rejected. */
  isReplaced?: boolean;
}

/**
 * Pages of a browser share a storage: they are suspended, closed and opened, users sign in and out, write and read lists, and the
 * server ends sessions, in random orders. @throws when a write is lost, done twice, done for another user or sent after a sign-out
 */
export async function runPages(seed: number, steps: number): Promise<void> {
  const random = createDice(seed);
  const hasLocks = random.chance(0.7);
  let lost = random.pick([0, 0.1, 0.4]);
  let now = Date.UTC(2026, 0, 1);
  const storage = createMemoryStorage();
  const pages: Page[] = [];
  const written: Written[] = [];
  /** What the network will bring to the server. */
  const requests: (() => void)[] = [];
  const servers = new Map(USERS.map((user) => [user, createModelServer(() => now)]));
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const signedIn: string[] = [];
  let tokens = 0;
  let opening: Page | undefined;

  const fail = (what: string) => {
    throw new Error(`seed ${seed}: ${what}`);
  };
  const issue = (user: string) => {
    const [accessToken, refreshToken] = [`access ${++tokens}`, `refresh ${tokens}`];
    access.set(accessToken, user);
    refresh.set(refreshToken, user);
    return { accessToken, refreshToken, expiresIn: 3_600, user: { id: user, email: user, name: user } };
  };
  const run = (query: string, variables: Record<string, unknown>, token: string): object => {
    const user = access.get(token);
    if (query === operations.LOGIN) return { login: issue((variables['input'] as { email: string }).email) };
    if (query === operations.REFRESH_SESSION) {
      const used = String(variables['refreshToken']);
      const of = refresh.get(used) ?? '';
      if (!refresh.delete(used)) return {};
      return { refreshSession: issue(of) };
    }
    if (!user) return {};
    const server = servers.get(user) ?? fail('no such user');
    if (query === operations.READ_TASKS) return { tasks: server?.read(variables as never) };
    if (query === operations.LOGOUT)
      return (access.delete(token), refresh.delete(token.replace('access', 'refresh')), { logout: true });
    if (query !== operations.CREATE_TASK) fail(`not of the model: ${query}`);
    const { title } = variables['input'] as { title: string };
    const write = written.find((each) => each.title === title);
    if (write?.user !== user) fail(`${title} of ${write?.user} was sent as ${user}`);
    return { createTask: server?.create(variables as never) };
  };
  const fetchOf = (page: Page) =>
    (async (_url: string, { body, headers }: { body: string; headers: Record<string, string> }) => {
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
      if (page.isClosed || query === operations.TASK_CHANGES)
        throw new Error('there is no feed, and nothing after the end');
      const { title } = (variables['input'] ?? {}) as { title?: string };
      const write = query === operations.CREATE_TASK && written.find((each) => each.title === title);
      if (write && write.isOver) unhandled = `${title} was sent after a sign-out`;
      const token = String(headers['authorization']).replace('Bearer ', '');
      return new Promise((resolve, reject) => {
        page.abort.signal.addEventListener('abort', () => reject(new Error('closed'))); // which gives locks back
        const lose = () => page.events.push(() => reject(new Error('lost')));
        requests.push(() => {
          if (random.chance(lost)) return lose();
          const data = structuredClone(run(query, variables, token));
          const errors = Object.keys(data).length > 0 ? [] : [{ message: '', extensions: { code: 'UNAUTHENTICATED' } }];
          const response = { ok: true, status: 200, headers: new Headers(), json: async () => ({ data, errors }) };
          return random.chance(lost) ? lose() : page.events.push(() => resolve(response));
        });
      });
    }) as unknown as typeof fetch;
  let unhandled: string | undefined;

  const channels = new Set<{ page: Page | undefined; receive(data: unknown): void }>();
  const replaced = ['BroadcastChannel', 'navigator'].map(
    (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name) ?? {}] as const,
  );
  class Channel {
    readonly #port = { page: opening, receive: (data: unknown) => this.onmessage({ data }) };
    onmessage = (_: { data: unknown }) => {};
    constructor() {
      channels.add(this.#port);
    }
    postMessage(data: object) {
      for (const { page, receive } of [...channels].filter((port) => port !== this.#port))
        page?.messages.push(() => receive({ ...data, name: page.name }));
    }
    close() {
      channels.delete(this.#port);
    }
  }
  // Without Web Locks, the client excludes only what runs in the same page, or here, under the same name.
  const values: Record<string, unknown> = { BroadcastChannel: Channel, navigator: undefined };
  for (const [name] of replaced) Object.defineProperty(globalThis, name, { value: values[name], configurable: true });

  const open = () => {
    const page: Page = {
      ...({} as Page),
      name: hasLocks ? nameOf(storage) : `${nameOf(storage)} ${pages.length}`,
      isSuspended: false,
      isClosed: false,
      signIns: 0,
      noticed: signedIn.length,
      messages: [],
    };
    Object.assign(page, { events: [], timers: [], abort: new AbortController() });
    const time = {
      now: () => now,
      random: random.next,
      after(ms: number, call: () => void) {
        const timer = { at: now + ms, call };
        page.timers.push(timer);
        return () => void (page.timers = page.timers.filter((each) => each !== timer));
      },
    };
    opening = page;
    const fetch = fetchOf(page);
    const named = { ...storage, name: page.name };
    page.client = createClient({ url: 'http://model', storage: named, fetch, time, transport: 'sse' });
    pages.push(page);
    return page;
  };
  const running = () => pages.filter(({ isSuspended, isClosed }) => !isSuspended && !isClosed);
  /** Lets one thing happen. Returns false if nothing is left to happen but timers. */
  const step = async (): Promise<boolean> => {
    await settled();
    const able = running().filter(({ events, messages }) => events.length + messages.length > 0);
    const which = random.int(requests.length + able.length);
    const [request] = requests.splice(which, 1);
    if (request) request();
    else {
      const page = able[which - requests.length];
      // No one signs in as fast as a message arrives.
      const at = page && page.signIns > 0 && page.messages.length > 0 ? -1 : random.int((page?.events.length ?? 0) + 1);
      ((at < 0 ? undefined : page?.events.splice(at, 1)[0]) ?? page?.messages.shift() ?? page?.events.shift())?.();
    }
    await settled();
    if (unhandled !== undefined) fail(unhandled);
    return request !== undefined || able.length > 0;
  };
  const tick = async (until = Infinity) => {
    const timers = running().flatMap((page) => page.timers.map((timer) => ({ page, ...timer, timer })));
    const [next] = timers.toSorted((one, other) => one.at - other.at);
    if (!next || next.at > until) return false;
    next.page.timers = next.page.timers.filter((each) => each !== next.timer);
    now = Math.max(now, next.at);
    next.call();
    await settled();
    return true;
  };
  const haveLeft = new Set<string>();
  const write = (page: Page) => {
    const user = page.client.user()?.id;
    if (user === undefined) return;
    // The page may not have noticed a sign-out yet.
    const isDiscarded = haveLeft.has(user) && page.messages.length > 0;
    const entry: Written = { title: `task ${written.length}`, user, page, isDiscarded };
    written.push(entry);
    if (page.messages.length === 0) page.noticed = signedIn.length;
    const { noticed } = page;
    page.client.createTask({ title: entry.title }).then(
      () => (entry.outcome = 'done'),
      ({ code }: TaskmeshError) => {
        entry.outcome = code;
        const users = [...signedIn.slice(noticed), page.client.user()?.id ?? user];
        entry.isReplaced = users.some((each) => each !== user);
      },
    );
  };
  const signOut = async (page: Page) => {
    const user = page.client.user()?.id;
    const given = written.filter((each) => each.user === user);
    for (const each of given) each.isDiscarded = true;
    if (user) haveLeft.add(user);
    const isUpToDate = page.messages.length === 0;
    now += 1;
    await page.client.signOut().catch(() => undefined);
    if (isUpToDate && !page.isClosed) for (const each of given) if (each.outcome !== 'done') each.isOver = true;
  };
  const close = (page: Page) => {
    const stored = USERS.map((user) => String(storage.getItem(`taskmesh.writes.${user}`))).join();
    for (const each of written) if (each.page === page) each.wasStored = stored.includes(`"${each.title}"`);
    page.stopList?.();
    page.client.close();
    page.isClosed = true;
    page.abort.abort();
  };
  const signIn = (page: Page, user: string) => {
    page.signIns += 1;
    const end = () => (page.signIns -= 1);
    page.client.signIn({ email: user, password: '' }).then(() => signedIn.push(user) && end(), end);
  };
  const replace = (page: Page) => {
    close(page);
    open();
  };
  const endSessions = () => {
    if (random.chance(0.5)) refresh.clear();
    access.clear();
  };
  const turnList = (page: Page) => {
    page.stopList?.();
    page.stopList = page.stopList ? undefined : page.client.liveTasks().subscribe(() => undefined);
  };
  const act = async (): Promise<unknown> => {
    await settled();
    const page = running().length > 0 ? random.pick(running()) : undefined;
    const any = random.pick(pages.filter(({ isClosed }) => !isClosed));
    return random.oneOf(
      [3, () => page && write(page)],
      [
        1,
        () => page && (!page.client.user() || random.chance(0.2)) && signIn(page, random.chance(0.8) ? 'ada' : 'eve'),
      ],
      // Without locks, a page may store its writes once more just after a sign-out elsewhere.
      [1, () => hasLocks && page?.client.user() && random.chance(0.4) && void signOut(page)],
      [2, () => (any.isSuspended = !any.isSuspended)],
      [1, () => !random.chance(0.6) && replace(any)],
      [1, () => !random.chance(0.7) && endSessions()],
      [1, () => page && turnList(page)],
      [2, tick],
    );
  };
  const rest = async () => {
    const until = now + MAX_TIME_MS;
    while ((await step()) || (await tick(until)));
  };
  const doneTimes = ({ title, user }: Written) =>
    (servers.get(user)?.all() ?? []).filter((task) => task.title === title).length;

  try {
    for (let count = 0; count < 3; count++) open();
    for (let count = 0; count < steps; count++) await (random.chance(0.6) ? step() : act());
    lost = 0;
    const isOneStay = haveLeft.size === 0 && new Set(signedIn).size === 1;
    for (const page of pages) page.isSuspended = false;
    for (const page of pages) page.stopList?.();
    await rest();
    for (const [round, user] of USERS.entries()) {
      signIn(running()[0] as Page, user);
      await rest();
      const users = running().map(({ client }) => client.user()?.id);
      // Where the server has ended a session, writes wait for its user.
      if (users.some((each) => each !== user && (round > 0 || each)))
        fail(`after a sign-in of ${user}, the pages show ${users.join()}`);
    }
    for (const each of written) {
      const { title, outcome = 'waits', isDiscarded, page, wasStored, isReplaced } = each;
      const times = doneTimes(each);
      if (times > 1) fail(`${title} was done ${times} times`);
      if (outcome === 'done' && times === 0) fail(`${title} was reported, but not done`);
      if (isDiscarded || isReplaced) continue;
      // Without locks, or when a user has signed in again, another page may have taken over what this one had stored.
      const isReported = outcome === 'done' || (outcome === 'waits' && times > 0 && !(hasLocks && isOneStay));
      const isLost = page.isClosed ? times === 0 && wasStored : !isReported;
      if (isLost) fail(`${title} was lost: ${outcome}`);
    }
  } finally {
    for (const page of running()) close(page);
    for (const [name, property] of replaced) Object.defineProperty(globalThis, name, property);
  }
}
