import { atEnd, eventually, fastestOf } from '@taskmesh/testing';
import type { DeadLetter, DeadLettersInternal } from '@taskmesh/internal-api';
import { issueSignInCode } from '@taskmesh/service';
import { request } from 'undici';
import { useGateway } from './fakes/gateway.ts';
import { restOf, type RestCall } from './fakes/rest.ts';
import { streamHttp } from './fakes/streams.ts';

const USER = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const NO_DATABASE = { isUp: false, schema: null, missing: [], unknown: [] };
const letter = (id: number): DeadLetter => ({
  ...{ id: String(id), source: 'relay', changeId: String(id), ownerId: null, sequence: null },
  ...{ reason: 'too large', record: null, diedAt: '2026-11-20T10:00:00.000Z', canReplay: true },
});

describe('the status of the platform for operators', () => {
  let call: RestCall;

  const gateway = useGateway({ mode: 'http' });
  beforeAll(async () => {
    ({ call } = await restOf(gateway));
  });
  /** What a test changes is undone after it. */
  beforeEach(() => {
    const { reported, ...services } = gateway.operators;
    const before = structuredClone(reported);
    const usual = Object.values(services).map((service) => ({ service, own: { ...service } }));
    atEnd(() => {
      Object.assign(reported, before);
      for (const { service, own } of usual) Object.assign(service, own);
    });
  });

  const status = async () => (await call('GET', '/api/operations/status')).json;
  const problems = async (): Promise<string[]> => (await status()).data.problems;

  it('shows every service, the feed, its own readers and the backups', async () => {
    const { auth, tasks, backup } = gateway.operators.reported;
    const { success, message, data } = await status();
    expect({ success, message }).toEqual({ success: true, message: 'All is well.' });
    const own = { version: expect.any(String), startedAt: expect.any(String), store: null };
    const services = Object.entries({ gateway: own, auth, tasks, backup }).map(
      ([name, { version, startedAt, store }]) => ({ name, isUp: true, version, startedAt, store }),
    );
    const connections = { 'graphql-ws': 0, sse: 0, multipart: 0, channel: 0 };
    expect(data).toEqual({
      ...{ at: expect.stringMatching(/^\d{4}-.*Z$/), problems: [], services, feed: tasks.feed },
      eventLog: { system: 'memory', isUpForTasks: true, isUpForGateway: true },
      cache: { system: 'memory', isUp: true },
      realtime: { connections, subscriptions: 0, owners: 0, queueBytes: 0 },
      backups: backup.backups,
    });
  });

  it('counts the readers of the feed at this gateway', async () => {
    const query = 'subscription { taskChanges { cursor } }';
    await streamHttp('sse', { origin: gateway.origin, token: await gateway.auth.token(USER), query });
    await eventually(async () =>
      expect((await status()).data.realtime).toMatchObject({ connections: { sse: 1 }, subscriptions: 1, owners: 1 }),
    );
  });

  it('describes problems in sentences', async () => {
    const { auth, tasks, backup } = gateway.operators.reported;
    Object.assign(auth, { store: NO_DATABASE });
    Object.assign(tasks, {
      version: '9.0.0',
      store: { ...NO_DATABASE, isUp: true, missing: ['0009-next'] },
      eventLog: { system: 'memory', isUp: false },
      relayFailingSeconds: 61.2,
      feed: { epoch: 1, pending: 4, oldestPendingAgeSeconds: 12.4, deadLetters: { relay: 1, gateway: 1 } },
    });
    Object.assign(backup, { store: { ...NO_DATABASE, isUp: true, unknown: ['0010-newer'] } });
    const schedule = { pattern: '* * * * *', nextAt: null, failingSince: '2026-11-20T10:00:00.000Z' };
    Object.assign(backup.backups, { archives: null, schedule });
    const { message, data } = await status();
    expect(message).toBe(data.problems.join(' '));
    expect(data.problems).toEqual([
      'The database of auth does not respond.',
      'The database of tasks has to be migrated.',
      'The database of backup is of a newer version.',
      'The services are of different versions.',
      'The relay of tasks has failed for 61 seconds: see its log.',
      'The event log does not respond to the service tasks: the feed is late.',
      'A change has been waiting for the event log for 12 seconds.',
      '2 dead letters wait for an operator.',
      'The archive storage does not respond.',
      'Scheduled backups have failed since 2026-11-20T10:00:00.000Z.',
    ]);
  });

  it('reports only the database if it makes the state of the archives unknown', async () => {
    const { backup } = gateway.operators.reported;
    Object.assign(backup, { store: NO_DATABASE, backups: { ...backup.backups, archives: null } });
    expect(await problems()).toEqual(['The database of backup does not respond.']);
  });

  it('shows a failing service as down, without the reason', async () => {
    gateway.operators.auth.status = () => Promise.reject(new Error('a secret of the service'));
    const failed = await status();
    expect(failed.data.problems).toEqual(['The service auth does not respond.']);
    expect(JSON.stringify(failed)).not.toContain('a secret');
  });

  it('waits only a second for a service that does not respond', async () => {
    gateway.operators.auth.status = () => new Promise(() => undefined);
    const down = { name: 'auth', isUp: false, version: null, startedAt: null, store: null };
    const round = async () => {
      const begun = performance.now();
      expect((await status()).data.services[1]).toEqual(down);
      return performance.now() - begun;
    };
    expect(await fastestOf(round, 2)).toBeLessThan(3_000); // the timeouts of other calls are longer
  });

  it.each([{}, { version: '9.0.0', startedAt: null, store: {}, feed: null }, null])(
    'shows the others if one has another version with another form of report: %j',
    async (given) => {
      gateway.operators.tasks.status = async () => given as never;
      expect(await problems()).toEqual(['The service tasks does not respond.']);
    },
  );

  describe('its dead letters', () => {
    const path = '/api/operations/dead-letters';
    const behave = (changes: Partial<DeadLettersInternal>) => Object.assign(gateway.operators.deadLetters, changes);

    it('are listed page by page', async () => {
      const all = [1, 2, 3, 4, 5].map(letter);
      behave({ deadLetters: async ({ after = '0', limit = 0 }) => all.slice(Number(after)).slice(0, limit) });
      const seen: string[] = [];
      let query = '?limit=4';
      for (let pages = 0; query !== '' && pages < 5; pages++) {
        const { json, headers } = await call('GET', path + query);
        expect(json).toMatchObject({ success: true, count: json.data.length });
        seen.push(...json.data.map(({ id }: DeadLetter) => id));
        query = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? '';
      }
      expect(seen).toEqual(['1', '2', '3', '4', '5']);
      expect((await call('GET', `${path}?after=4`)).json.message).toBe('1 dead letter found.');
    });

    it.each<[string, string, object | undefined, object, string, number]>([
      ['POST', '/1/replay', undefined, { ids: ['1'] }, 'Published again.', 404],
      ['DELETE', '/1', undefined, { ids: ['1'] }, 'Discarded.', 404],
      ['POST', '/replay', { ids: ['3', '9'] }, { ids: ['3', '9'] }, 'Published again: 1.', 200],
      ['POST', '/replay', { all: true }, { all: true }, 'Published again: 1.', 200],
      ['POST', '/discard', { ids: ['4'] }, { ids: ['4'] }, 'Discarded: 1.', 200],
    ])('are published again and discarded: %s %s %j', async (method, at, body, choice, message, statusOfNone) => {
      const chosen: object[] = [];
      const takes = (count: number) => ({
        replayDeadLetters: async (given: object) => (chosen.push(given), { replayed: count }),
        discardDeadLetters: async (given: object) => (chosen.push(given), { discarded: count }),
      });
      behave(takes(1));
      expect((await call(method, path + at, { body })).json.message).toBe(message);
      behave(takes(0));
      expect((await call(method, path + at, { body })).status).toBe(statusOfNone);
      expect(chosen).toEqual([choice, choice]);
    });

    it('are not requested from the service by ids and queries that cannot be', async () => {
      const never = () => Promise.reject(new Error('It was asked.'));
      behave({ deadLetters: never, replayDeadLetters: never, discardDeadLetters: never });
      const expectStatus = async (status: number, method: string, at: string, body?: object) =>
        expect([method, at, (await call(method, path + at, { body })).status]).toEqual([method, at, status]);
      for (const id of ['x', '-1', '1e3', '%00', '1%2f2', '1234567890123456789'])
        for (const [method, at] of [['DELETE', ''], ['POST', '/replay']] as const) await expectStatus(404, method, `/${id}${at}`); // prettier-ignore
      for (const query of ['limit=0', 'limit=101', 'after=x', 'after=-1', 'after=', 'after=1&after=2', 'limit=%ff'])
        await expectStatus(400, 'GET', `?${query}`);
      for (const body of [{ all: false }, { ids: 'all' }, { ids: [1] }, { ids: ['1'], more: true }, []])
        for (const at of ['/replay', '/discard']) await expectStatus(400, 'POST', at, body);
    });

    it('are unavailable if the service responds in the form of another version', async () => {
      const odd = async () => ({ letters: [] }) as never;
      behave({ deadLetters: odd, replayDeadLetters: odd, discardDeadLetters: odd });
      const unavailable = { status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE' } } };
      for (const [method, at, body] of [
        ['GET', ''],
        ['POST', '/replay', { all: true }],
        ['DELETE', '/1'],
      ] as const)
        expect(await call(method, path + at, { body })).toMatchObject(unavailable);
    });
  });

  it('is shown without unavailable services: values that only they know are null', async () => {
    await gateway.stopService('tasks');
    await gateway.stopService('backup');
    const { data } = await status();
    expect(data).toMatchObject({
      problems: ['The service tasks does not respond.', 'The service backup does not respond.'],
      services: [{ isUp: true }, { isUp: true }, { name: 'tasks', isUp: false }, { name: 'backup', isUp: false }],
      ...{ feed: null, backups: null, eventLog: { isUpForTasks: null, isUpForGateway: true } },
    });
    for (const [method, path, body] of [
      ['GET', 'operations/dead-letters'],
      ['GET', 'backups'],
      ['POST', 'backups'],
      ['PUT', 'backups/x.tar.gz', 'archive'],
      ['POST', 'backup/restore?file=x'],
    ] as const) {
      const response = await call(method, `/api/${path}`, { body });
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '1']);
    }
  });
});

describe('an operator of this machine', () => {
  const TOKEN = 'a-token-of-this-machine-that-is-long-enough';
  const gateway = useGateway({ machineToken: `${TOKEN}\n` });

  const post = async (path: string, headers: Record<string, string>, body: object) => {
    const sent = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers };
    const url = gateway.origin + path;
    const { body: response } = await request(url, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    return response.text();
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('is recognized in GraphQL, too, where a user stays that user', async () => {
    const { origin } = gateway;
    const codes = async (headers: Record<string, string>) =>
      /"code":"(\w+)"/.exec(await post('/graphql', headers, { query: '{ backups { file } }' }))?.[1];
    expect(await codes({ origin, ...bearer(TOKEN) })).toBeUndefined();
    expect(await codes({ origin })).toBe('UNAUTHENTICATED');
    expect(await codes({ origin: 'https://evil.example', ...bearer(TOKEN) })).toBe('UNAUTHENTICATED');
    expect(await codes(bearer(await gateway.auth.token(USER)))).toBe('FORBIDDEN');
  });

  it('gets the token for a code once; neither is logged', async () => {
    const code = issueSignInCode(gateway.machineTokenFile, Date.now());
    const exchange = () => post('/api/operations/sign-in', { origin: gateway.origin }, { code });
    expect(await exchange()).toContain(TOKEN);
    expect(await exchange()).not.toContain(TOKEN);
    expect(gateway.logged.length).toBeGreaterThan(0);
    for (const secret of [TOKEN, code]) expect(JSON.stringify(gateway.logged)).not.toContain(secret);
  });
});
