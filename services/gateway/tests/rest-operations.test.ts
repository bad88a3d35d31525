import { fastestOf } from '@taskmesh/testing';
import type { DeadLetter } from '@taskmesh/internal-api';
import { issueSignInCode } from '@taskmesh/service';
import { createDescriptionCheck, type ApiDescription } from '@taskmesh/testing/api-description';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const USER = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const JSON_TYPE = { 'content-type': 'application/json' };
const letter = (id: number, own: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ id: String(id), source: 'relay', changeId: String(id), ownerId: null, sequence: null },
  ...{ reason: 'too large', record: null, diedAt: '2026-11-20T10:00:00.000Z', canReplay: true },
  ...own,
});

interface Options {
  headers?: Record<string, string>;
  body?: unknown;
}

/** Every answer is held against the description. */
async function callerOf({ origin }: TestGateway) {
  const description = (await (await fetch(`${origin}/api/openapi.json`)).json()) as ApiDescription;
  const check = createDescriptionCheck(description);
  return async (method: string, path: string, { headers = {}, body }: Options = {}) => {
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body !== undefined && JSON_TYPE), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    check.check({ method, path, status: response.status, headers: response.headers, text });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks wherever it likes
    const json: any = text ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, json };
  };
}

describe('operators while a service is of another version', () => {
  let gateway: TestGateway;
  let call: Awaited<ReturnType<typeof callerOf>>;

  beforeAll(async () => {
    gateway = await startTestGateway({ mode: 'http' });
    call = await callerOf(gateway);
  });
  afterAll(() => gateway.stop());

  it.each([{}, { version: '9.0.0', startedAt: null, store: {}, feed: null }, null])(
    'are shown the others when its report has another form: %j',
    async (given) => {
      const known = gateway.operators.reported.tasks;
      gateway.operators.reported.tasks = given as never;
      const { status, json } = await call('GET', '/api/operations/status');
      gateway.operators.reported.tasks = known;
      expect([status, json.data.problems]).toEqual([200, ['The service tasks does not answer.']]);
    },
  );

  it('say that it is away when it answers them in another form', async () => {
    const odd = async () => ({ letters: [] }) as never;
    Object.assign(gateway.operators.deadLetters, { deadLetters: odd, replayDeadLetters: odd, discardDeadLetters: odd });
    const asked: [string, string, unknown?][] = [
      ['GET', ''],
      ['POST', '/replay', { all: true }],
      ['POST', '/discard', { all: true }],
      ['POST', '/1/replay'],
      ['DELETE', '/1'],
    ];
    for (const [method, path, body] of asked) {
      const { status, json } = await call(method, `/api/operations/dead-letters${path}`, { body });
      expect([method, path, status, json.error?.code]).toEqual([method, path, 503, 'SERVICE_UNAVAILABLE']);
    }
  });
});

describe.each(['in-process', 'http'] as const)('the platform, shown to operators, the services %s', (mode) => {
  let gateway: TestGateway;
  let call: Awaited<ReturnType<typeof callerOf>>;

  beforeAll(async () => {
    gateway = await startTestGateway({ mode });
    call = await callerOf(gateway);
  });
  afterAll(() => gateway.stop());
  afterEach(() => gateway.operators.letters.splice(0));

  const status = async () => (await call('GET', '/api/operations/status')).json;

  it('shows every service, the feed, its own readers and the backups', async () => {
    const { success, message, data } = await status();
    expect({ success, message }).toEqual({ success: true, message: 'All is well.' });
    expect(data).toEqual({
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      problems: [],
      services: [
        { name: 'gateway', isUp: true, version: expect.any(String), startedAt: expect.any(String), store: null },
        { name: 'auth', isUp: true, ...gateway.operators.reported.auth },
        ...(['tasks', 'backup'] as const).map((name) => {
          const { version, startedAt, store } = gateway.operators.reported[name];
          return { name, isUp: true, version, startedAt, store };
        }),
      ],
      feed: gateway.operators.reported.tasks.feed,
      eventLog: { system: 'memory', isUpForTasks: true, isUpForGateway: true },
      cache: { system: 'memory', isUp: true },
      realtime: {
        connections: { 'graphql-ws': 0, sse: 0, multipart: 0, channel: 0 },
        ...{ subscriptions: 0, owners: 0, queueBytes: 0 },
      },
      backups: gateway.operators.reported.backup.backups,
    });
  });

  it('counts who reads the feed here', async () => {
    const token = await gateway.auth.token(USER);
    const leave = new AbortController();
    const stream = await fetch(`${gateway.origin}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, accept: 'text/event-stream', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query: 'subscription { taskChanges { cursor } }' }),
      signal: leave.signal,
    });
    await stream.body?.getReader().read();
    expect((await status()).data.realtime).toMatchObject({ connections: { sse: 1 }, subscriptions: 1, owners: 1 });
    leave.abort();
  });

  it('says in sentences what is wrong', async () => {
    const { reported } = gateway.operators;
    const before = structuredClone(reported);
    reported.auth.store = { isUp: false, schema: null, missing: [], unknown: [] };
    reported.tasks.version = '9.0.0';
    reported.tasks.store.missing = ['0009-next'];
    reported.tasks.eventLog.isUp = false;
    reported.tasks.relayFailingSeconds = 61.2;
    reported.tasks.feed = {
      epoch: 1,
      pending: 4,
      oldestPendingAgeSeconds: 12.4,
      deadLetters: { relay: 1, gateway: 1 },
    };
    reported.backup.store.unknown = ['0010-newer'];
    reported.backup.backups.archives = null;
    reported.backup.backups.schedule = { pattern: '* * * * *', nextAt: null, failingSince: '2026-11-20T10:00:00.000Z' };
    const { message, data } = await status();
    Object.assign(reported, before);
    expect(message).toBe(data.problems.join(' '));
    expect(data.problems).toEqual([
      'The database of auth does not answer.',
      'The database of tasks has to be migrated.',
      'The database of backup is of a newer version.',
      'The services are of different versions.',
      'The relay of tasks has failed for 61 seconds: see its log.',
      'The event log does not answer the service tasks: the feed is late.',
      'A change has been waiting for the event log for 12 seconds.',
      '2 dead letters wait for an operator.',
      'The place of the archives does not answer.',
      'Scheduled backups have failed since 2026-11-20T10:00:00.000Z.',
    ]);
  });

  it('reports the database only, where the archives are not known because of it', async () => {
    const { reported } = gateway.operators;
    const before = structuredClone(reported);
    reported.backup.store = { isUp: false, schema: null, missing: [], unknown: [] };
    reported.backup.backups.archives = null;
    const { data } = await status();
    Object.assign(reported, before);
    expect(data.problems).toEqual(['The database of backup does not answer.']);
  });

  it('shows a service that fails as down, and not why', async () => {
    const { before } = gateway.operators;
    before(() => Promise.reject(new Error('a secret of the service')));
    const failed = await status();
    expect(failed.data.services.filter(({ isUp }: { isUp: boolean }) => !isUp)).toHaveLength(1);
    expect(JSON.stringify(failed)).not.toContain('a secret');
  });

  it('waits a second only for a service that does not answer', async () => {
    const { before } = gateway.operators;
    const round = async () => {
      const begun = performance.now();
      before(() => new Promise(() => undefined));
      const silent = await status();
      expect(silent.data.services.filter(({ isUp }: { isUp: boolean }) => !isUp)).toEqual([
        { name: expect.any(String), isUp: false, version: null, startedAt: null, store: null },
      ]);
      return performance.now() - begun;
    };
    expect(await fastestOf(round)).toBeLessThan(3_000); // the time-outs of other calls are longer
  });

  it('lists dead letters page by page', async () => {
    gateway.operators.letters.push(...[1, 2, 3, 4, 5].map((id) => letter(id)), letter(6, { source: 'gateway', record: '{"title":"a text"}' })); // prettier-ignore
    const seen: string[] = [];
    let path = '/api/operations/dead-letters?limit=4';
    for (let pages = 0; path !== '' && pages < 5; pages++) {
      const { json, headers } = await call('GET', path);
      expect(json).toMatchObject({ success: true, count: json.data.length });
      seen.push(...json.data.map(({ id }: DeadLetter) => id));
      const [, next = ''] = /^<(\?.*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
      path = next && `/api/operations/dead-letters${next}`;
    }
    expect(seen).toEqual(['1', '2', '3', '4', '5', '6']);
    const { json } = await call('GET', '/api/operations/dead-letters?after=5');
    expect(json).toMatchObject({ message: '1 dead letter found.', data: [{ record: '{"title":"a text"}' }] });
  });

  it('publishes dead letters again, and discards them, one by one or all', async () => {
    const { letters } = gateway.operators;
    letters.push(...[1, 2, 3, 4, 5, 6].map((id) => letter(id, { canReplay: id !== 2 })));
    const post = async (path: string, body?: unknown) => {
      const { status, json } = await call('POST', `/api/operations/dead-letters/${path}`, { body });
      return [status, json.message];
    };
    expect(await post('1/replay')).toEqual([200, 'Published again.']);
    expect(await post('1/replay')).toEqual([404, 'There is no such dead letter, or its change is no longer kept.']);
    expect((await post('2/replay'))[0]).toBe(404);
    expect((await call('DELETE', '/api/operations/dead-letters/2')).status).toBe(200);
    expect((await call('DELETE', '/api/operations/dead-letters/2')).status).toBe(404);
    expect(await post('replay', { ids: ['3', '99'] })).toEqual([200, 'Published again: 1.']);
    expect(await post('discard', { ids: ['4'] })).toEqual([200, 'Discarded: 1.']);
    expect(await post('replay', { all: true })).toEqual([200, 'Published again: 2.']);
    expect(letters).toEqual([]);
  });

  it('changes nothing for an invalid choice', async () => {
    gateway.operators.letters.push(letter(1));
    const choices = [{}, { all: false }, { ids: 'all' }, { ids: [1] }, { ids: ['1'], all: true }, { ids: ['1'], more: true }, []]; // prettier-ignore
    for (const body of choices)
      for (const work of ['replay', 'discard'])
        expect((await call('POST', `/api/operations/dead-letters/${work}`, { body })).status).toBe(400);
    expect(gateway.operators.letters).toHaveLength(1);
  });

  it.each(['x', '-1', '1e3', '%00', '1%2f2', '1234567890123456789', '1;drop'])(
    'finds no dead letter "%s"',
    async (id) => {
      expect((await call('DELETE', `/api/operations/dead-letters/${id}`)).status).toBe(404);
      expect((await call('POST', `/api/operations/dead-letters/${id}/replay`)).status).toBe(404);
    },
  );

  it.each(['limit=0', 'limit=101', 'limit=x', 'after=x', 'after=-1', 'after=', 'after=1&after=2', 'limit=%ff'])(
    'refuses a list of %s',
    async (query) => {
      expect((await call('GET', `/api/operations/dead-letters?${query}`)).status).toBe(400);
    },
  );
});

describe('operators of the platform', () => {
  const SAME = { 'sec-fetch-site': 'same-origin' };
  const TOKEN = 'a-token-of-this-machine-that-is-long-enough';
  let dir: string;
  let gateway: TestGateway;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'taskmesh-operators-'));
    const file = join(dir, 'keys', 'machine-token');
    await mkdir(join(dir, 'keys'));
    await writeFile(file, `${TOKEN}\n`, { mode: 0o600 });
    gateway = await startTestGateway({ env: { DATA_DIR: dir, CORS_ORIGINS: 'https://app.example' } });
  });
  afterAll(async () => {
    await gateway.stop();
    await rm(dir, { recursive: true });
  });

  const own = () => new URL(gateway.origin).host;
  const ask = async (method: 'GET' | 'POST', path: string, headers: Record<string, string | string[]>) => {
    const { statusCode, body } = await request(gateway.origin + path, { method, headers });
    return { status: statusCode, text: await body.text() };
  };
  const statusOf = async (headers: Record<string, string | string[]>, path = '/api/operations/check') =>
    (await ask('POST', path, headers)).status;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  it('are our own pages on this machine, with its token', async () => {
    const page = { ...SAME, origin: `http://${own()}` };
    expect(await statusOf({ ...page, ...bearer(TOKEN) })).toBe(200);
    expect(await statusOf({ ...page, ...bearer(TOKEN) }, '/api/backups')).toBe(201);
    expect(await statusOf(page)).toBe(401);
    expect(await statusOf({ ...page, ...bearer(`${TOKEN}x`) })).toBe(401);
    expect(await statusOf({ ...page, ...bearer(await gateway.auth.token(USER)) })).toBe(401);
  });

  it('are programs on this machine, as before', async () => {
    expect(await statusOf({})).toBe(200);
    expect((await ask('GET', '/api/operations/status', SAME)).status).toBe(200);
  });

  it.each<Record<string, string>>([{ origin: 'https://app.example' }, { forwarded: 'for=127.0.0.1' }])(
    'are no others, with the token or without: %j',
    async (given) => {
      const headers = { ...SAME, origin: `http://${own()}`, ...given };
      for (const sent of [headers, { ...headers, ...bearer(TOKEN) }]) {
        expect(await statusOf(sent)).toBe(403);
        for (const path of ['/api/operations/status', '/api/operations/dead-letters'])
          expect((await ask('GET', path, sent)).status).toBe(403);
      }
    },
  );

  it('in GraphQL, too, and a user stays that user', async () => {
    const codes = async (headers: Record<string, string>) => {
      const { body } = await request(`${gateway.origin}/graphql`, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify({ query: '{ backups { file } }' }),
      });
      const { errors = [] } = (await body.json()) as { errors?: { extensions: { code: string } }[] };
      return errors.map(({ extensions }) => extensions.code);
    };
    const page = { ...SAME, origin: `http://${own()}` };
    expect(await codes({ ...page, ...bearer(TOKEN) })).toEqual([]);
    expect(await codes(page)).toEqual(['UNAUTHENTICATED']);
    expect(await codes({ origin: 'https://evil.example', ...bearer(TOKEN) })).toEqual(['UNAUTHENTICATED']);
    expect(await codes(bearer(await gateway.auth.token(USER)))).toEqual(['FORBIDDEN']);
  });

  describe('with a code in the place of the token', () => {
    const exchange = async (headers: Record<string, string>, code: unknown) => {
      const { statusCode, body } = await request(`${gateway.origin}/api/operations/sign-in`, {
        method: 'POST',
        headers: { ...JSON_TYPE, ...headers },
        body: JSON.stringify({ code }),
      });
      return { status: statusCode, text: await body.text() };
    };
    const issue = () => issueSignInCode(join(dir, 'keys', 'machine-token'), Date.now());
    const page = () => ({ ...SAME, origin: `http://${own()}` });

    it('get the token once', async () => {
      const code = issue();
      const both = await Promise.all([exchange(page(), code), exchange(page(), code)]);
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 401]);
      expect(both.find(({ status }) => status === 200)?.text).toContain(TOKEN);
      expect((await exchange(page(), code)).status).toBe(401);
      expect(gateway.logged.some((line) => JSON.stringify(line).includes(code))).toBe(false);
    });

    it('are no one with a wrong one, or an old one', async () => {
      const old = issueSignInCode(join(dir, 'keys', 'machine-token'), Date.now() - 11 * 60_000);
      expect((await exchange(page(), old)).status).toBe(401);
      const code = issue();
      for (const wrong of ['', `${code}x`, TOKEN]) expect((await exchange(page(), wrong)).status).toBe(401);
      for (const none of [null, 1, 'x'.repeat(1_025)]) expect((await exchange(page(), none)).status).toBe(400);
      expect((await exchange({ ...page(), origin: 'https://evil.example' }, code)).status).toBe(403);
      expect(await statusOf({ ...page(), ...bearer(code) })).toBe(401);
      expect((await exchange(page(), code)).status).toBe(200);
    });
  });

  it('never find the token in a log', () => {
    expect(gateway.logged.length).toBeGreaterThan(0);
    expect(JSON.stringify(gateway.logged)).not.toContain(TOKEN);
  });
});

it('shows the platform to holders of the backup token only, wherever they are, where there is one', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'taskmesh-operators-'));
  const file = join(dir, 'keys', 'machine-token');
  await mkdir(join(dir, 'keys'));
  const token = 'x'.repeat(40);
  await writeFile(file, token, { mode: 0o600 });
  const gateway = await startTestGateway({ env: { BACKUP_TOKEN: 'secret', DATA_DIR: dir } });
  try {
    const statusOf = async (headers: Record<string, string>) =>
      (await fetch(`${gateway.origin}/api/operations/status`, { headers })).status;
    expect(await statusOf({})).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${token}` })).toBe(401);
    expect(await statusOf({ authorization: `Bearer ${await gateway.auth.token(USER)}` })).toBe(401);
    expect(await statusOf({ authorization: 'Bearer secret', 'x-forwarded-for': '203.0.113.9' })).toBe(200);
    const code = issueSignInCode(file, Date.now());
    const body = JSON.stringify({ code });
    const signIn = { method: 'POST', headers: JSON_TYPE, body };
    expect((await fetch(`${gateway.origin}/api/operations/sign-in`, signIn)).status).toBe(401);
  } finally {
    await gateway.stop();
    await rm(dir, { recursive: true });
  }
});

describe('the platform with services that are away', () => {
  it('is shown, with what is down; what they alone know is null', async () => {
    const gateway = await startTestGateway({ mode: 'http' });
    try {
      const call = await callerOf(gateway);
      await gateway.stopService('tasks');
      await gateway.stopService('backup');
      const { status, json } = await call('GET', '/api/operations/status');
      expect(status).toBe(200);
      expect(json.data).toMatchObject({
        problems: ['The service tasks does not answer.', 'The service backup does not answer.'],
        services: [{ isUp: true }, { isUp: true }, { name: 'tasks', isUp: false }, { name: 'backup', isUp: false }],
        ...{ feed: null, backups: null, eventLog: { isUpForTasks: null, isUpForGateway: true } },
      });
      for (const [method, path] of [
        ['GET', 'operations/dead-letters'],
        ['GET', 'backups'],
        ['POST', 'backups'],
        ['PUT', 'backups/x.tar.gz'],
        ['POST', 'backup/restore?file=x'],
      ] as const) {
        const answer = await call(method, `/api/${path}`, method === 'PUT' ? { body: 'archive' } : {});
        expect([path, answer.status, answer.headers.get('retry-after')]).toEqual([path, 503, '1']);
      }
    } finally {
      await gateway.stop();
    }
  });
});
