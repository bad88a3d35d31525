import { AppError, conflict } from '@taskmesh/contracts';
import { createDescriptionCheck, type ApiDescription, type DescriptionCheck } from '@taskmesh/testing/api-description';
import { createHash, randomBytes } from 'node:crypto';
import { request as nodeRequest } from 'node:http';
import { Readable } from 'node:stream';
import { request as rawRequest } from 'undici';
import { archiveEndpoints } from '../src/rest/backup/archives.ts';
import { restoreEndpoints } from '../src/rest/backup/restores.ts';
import { isBytes, type Endpoint } from '../src/rest/endpoint.ts';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const LINES = { accept: 'application/x-ndjson' };
const MIB = 1024 * 1024;

interface Line {
  progress?: { phase: string };
  status?: number;
  data?: { file: string };
}

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);

describe.each(['in-process', 'http'] as const)('backups over REST, the service %s', (mode) => {
  let gateway: TestGateway;
  let check: DescriptionCheck;

  beforeAll(async () => {
    gateway = await startTestGateway({ mode });
    const description = await fetch(`${gateway.origin}/api/openapi.json`);
    check = createDescriptionCheck((await description.json()) as ApiDescription);
  });
  afterAll(() => gateway.stop());

  const call = async (method: string, path: string, { headers = {}, body }: Options = {}) => {
    const response = await fetch(`${gateway.origin}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await response.text();
    check.check({ method, path, status: response.status, headers: response.headers, text });
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- a test looks wherever it likes, and fails when nothing is there
    const json: any =
      response.headers.get('content-type')?.startsWith('application/json') && text ? JSON.parse(text) : {};
    return { status: response.status, headers: response.headers, text, json };
  };

  it('are uploaded, listed, fetched and deleted, of any size and name', async () => {
    const content = randomBytes(20 * MIB);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const stored = await call('PUT', '/api/backups/big one.tar.gz', { body: content });
    expect(stored).toMatchObject({
      status: 201,
      json: { data: { file: 'big one.tar.gz', sizeBytes: content.length, sha256 } },
    });
    expect((await call('GET', '/api/backups')).json).toEqual({
      ...{ success: true, message: '1 backup found.', count: 1 },
      data: [stored.json.data],
    });
    const { body, headers } = await rawRequest(`${gateway.origin}/api/backups/big%20one.tar.gz`);
    expect(Buffer.from(await body.arrayBuffer()).equals(content)).toBe(true);
    const head = await call('HEAD', '/api/backups/big one.tar.gz');
    for (const received of [headers, Object.fromEntries(head.headers)])
      expect(received).toMatchObject({
        'content-length': String(content.length),
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="big_one.tar.gz"; filename*=UTF-8''big%20one.tar.gz`,
        etag: `"${sha256}"`,
      });
    const deleted = await call('DELETE', '/api/backups/big one.tar.gz');
    expect(deleted.json).toEqual({ success: true, message: 'Backup deleted.' });
    for (const method of ['GET', 'HEAD', 'DELETE'])
      expect((await call(method, '/api/backups/big one.tar.gz')).status).toBe(404);
  });

  it('report progress to clients that accept lines, and end with the status', async () => {
    const made = await call('POST', '/api/backups', { headers: LINES });
    expect(made.status).toBe(200);
    const [progress, end, ...none] = linesOf(made.text);
    expect(progress).toEqual({ progress: { phase: 'dump', store: 'tasks', doneBytes: 1, totalBytes: 2 } });
    expect(end).toMatchObject({ status: 201, success: true, data: { file: expect.any(String) } });
    expect(none).toEqual([]);
    const lastLine = async (path: string) => linesOf((await call('POST', path, { headers: LINES })).text).at(-1);
    const file = end?.data?.file ?? '';
    expect(await lastLine('/api/backups/scan')).toMatchObject({ status: 200, data: { archives: 1, added: 1 } });
    expect(await lastLine(`/api/backups/${file}/verify`)).toMatchObject({
      status: 200,
      data: { verifiedAt: expect.any(String) },
    });
    expect(await lastLine(`/api/backup/restore?file=${file}`)).toMatchObject({
      ...{ status: 200, success: true, databaseRestored: true, dropped: ['tasks.invoices'] },
    });
    for (const path of ['/api/backups/scan', `/api/backups/${file}/verify`])
      expect(await call('POST', path)).toMatchObject({ status: 200, json: { success: true } });
  });

  it('report only the end to clients that prefer JSON', async () => {
    for (const accept of ['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0'])
      expect(await call('POST', '/api/backups', { headers: { accept } })).toMatchObject({ status: 201 });
  });

  it('say in the last line why they failed, when there was progress before', async () => {
    gateway.backupWork.failNext(conflict('A store is not fit.'));
    const known = await call('POST', '/api/backups', { headers: LINES });
    const failed = { success: false, message: 'A store is not fit.', error: 'A store is not fit.' };
    expect([known.status, linesOf(known.text).at(-1)]).toEqual([200, { status: 409, ...failed }]);
    gateway.backupWork.failNext(new Error('a secret'));
    const defect = await call('POST', '/api/backups', { headers: LINES });
    expect(linesOf(defect.text).at(-1)).toMatchObject({ status: 500, message: 'Internal server error.' });
    expect(JSON.stringify(gateway.logged)).toContain('a secret');
    const missing = await call('POST', '/api/backups/none.tar.gz/verify', { headers: LINES });
    expect([missing.status, missing.json.success]).toEqual([404, false]);
  });

  it('undo the last restore, or the one that was seen and no other', async () => {
    const undo = (query = '') => call('POST', `/api/backup/undo${query}`, { headers: LINES });
    const refused = { success: false, error: expect.any(String) };
    gateway.backupWork.undos.push('NOTHING_TO_UNDO', 'UNKNOWN', 'BUSY', 'RESTORED_CLEAN_UP_PENDING');
    for (const status of [404, 500, 503]) expect(await undo()).toMatchObject({ status, json: refused });
    for (const _end of ['clean-up pending', 'done'])
      expect(linesOf((await undo()).text).at(-1)).toMatchObject({ status: 200, success: true, databaseRestored: true });
    const { json } = await call('GET', '/api/backup/undo');
    expect(json).toMatchObject({ success: true, data: { file: 'a.tar.gz', isUndo: false, replacedKeptMs: 0 } });
    const seen = encodeURIComponent(json.data.restoredAt);
    expect((await call('POST', `/api/backup/undo?restoredAt=${seen}`)).json.success).toBe(true);
    expect(await undo('?restoredAt=2026-11-20T10:00:00.001Z')).toMatchObject({ status: 409, json: refused });
    for (const nonsense of ['', 'yesterday', '2026-11-20', '1', `${seen}&restoredAt=${seen}`])
      expect([nonsense, (await undo(`?restoredAt=${nonsense}`)).status]).toEqual([nonsense, 400]);
    expect(await undo(`?restored_at=${seen}`)).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('There is: restoredAt.') },
    });
  });

  it('begin a new epoch, as high as it must be', async () => {
    const begin = (query: string) => call('POST', `/api/backup/new-epoch?${query}`);
    expect(await begin('atLeast=29000000')).toMatchObject({ json: { data: { epoch: 29_000_000 } } });
    for (const nonsense of ['', '-5', '1e9', '1&atLeast=2', '0', '2000000001', '9999999999'])
      expect((await begin(`atLeast=${nonsense}`)).status).toBe(400);
    expect(await begin('atleast=5')).toMatchObject({
      status: 400,
      json: { error: expect.stringContaining('There is') },
    });
  });

  it.each<[string, object]>([
    ['', {}],
    ['&t=1&constructor=1&filename=x&allowLoss=1', {}],
    ['&allowLoss=true', { allowLoss: true }],
    ['&safetyBackup=true', { safetyBackup: true }],
    ['&safetyBackup=false', { safetyBackup: false }],
    ['&stores=tasks,a%26b', { stores: ['tasks', 'a&b'] }],
    ['&stores=tasks&stores=a%26b', { stores: ['tasks', 'a&b'] }],
    ['&stores=', { stores: [] }],
    ['&decryptedFrom=a%26b.tar.gz.age', { decryptedFrom: 'a&b.tar.gz.age' }],
  ])('restore with the parameters "%s" as they say', async (query, parameters) => {
    const { json } = await call('POST', '/api/backups');
    const { json: restored } = await call('POST', `/api/backup/restore?file=${json.data.file}${query}`);
    const { message, ...others } = restored;
    expect(JSON.parse(message)).toEqual({ allowLoss: false, ...parameters });
    const hasLists = /(allowLoss|safetyBackup)=true/.test(query);
    const lists = { dropped: ['tasks.invoices'], safetyBackup: 'before.tar.gz' };
    expect(others).toEqual({ success: true, ...(hasLists && lists) });
  });

  it('restore nothing with parameters that may be meant to change what a restore does', async () => {
    const { json } = await call('POST', '/api/backups');
    for (const [query, reason] of [
      ...['decryptedFrom=a&decryptedFrom=b', 'safetyBackup=yes', 'safetyBackup=true&safetyBackup=true'].map((each) => [each, '']), // prettier-ignore
      ...['store=tasks', 'Stores=tasks', 'stores[]=tasks', 'dry-run=true', 'DRYRUN=1', 'allow-loss=true', 'stors=tasks'].map((each) => [each, 'There are: file, allowLoss, stores']), // prettier-ignore
    ])
      expect([query, await call('POST', `/api/backup/restore?file=${json.data.file}&${query}`)]).toMatchObject([
        query,
        { status: 400, json: { error: expect.stringContaining(reason ?? '') } },
      ]);
  });

  it('report what a restore would change, and do not restore', async () => {
    const { json } = await call('POST', '/api/backups');
    const path = `/api/backup/dry-run?file=${json.data.file}`;
    expect(await call('POST', path)).toMatchObject({
      status: 200,
      json: {
        success: true,
        message: 'The restore could be done now. Nothing was changed.',
        data: { accounts: { now: 3, after: 2, gone: 2, back: 1, sessionsEnding: 4 }, dropped: ['tasks.invoices'] },
      },
    });
    const lines = linesOf((await call('POST', `${path}&stores=tasks`, { headers: LINES })).text);
    expect(lines.at(-1)).toMatchObject({
      status: 200,
      message: 'The restore could not be done now. Nothing was changed.',
      data: { possible: false, obstacles: ['tasks: somebody uses it'], accounts: null },
    });
    for (const query of ['', '?file=x&t=1'])
      expect((await call('POST', `/api/backup/dry-run${query}`)).status).toBe(400);
  });

  it('refuse an upload early without losing the answer, however much is still to come', async () => {
    gateway.backupWork.failNext(new AppError('PAYLOAD_TOO_LARGE', 'Too large.'));
    const endless = Readable.from(
      (async function* () {
        for (let part = 0; part < 200; part++) yield Buffer.alloc(MIB);
      })(),
    );
    const { statusCode, body } = await rawRequest(`${gateway.origin}/api/backups/huge.tar.gz`, {
      method: 'PUT',
      body: endless,
    });
    const error = 'Too large.';
    expect([statusCode, await body.json()]).toEqual([413, { success: false, message: error, error }]);
    expect((await call('GET', '/api/backups')).status).toBe(200);
  });

  it('request an upload only from a caller that may send it', async () => {
    /** The first answer to a client that waits before it sends its body. */
    const statusFor = (headers: Record<string, string>) =>
      new Promise<number | undefined>((resolve) => {
        const announced = { expect: '100-continue', 'content-length': '9', ...headers };
        const sent = nodeRequest(`${gateway.origin}/api/backups/x.tar.gz`, { method: 'PUT', headers: announced });
        sent.once('continue', () => resolve(100)).once('response', ({ statusCode }) => resolve(statusCode));
        sent.once('close', () => undefined).on('error', () => undefined);
        sent.flushHeaders();
        setTimeout(() => sent.destroy(), 2_000);
      });
    expect(await statusFor({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusFor({})).toBe(100);
  });
});

interface Options {
  headers?: Record<string, string>;
  body?: Buffer | string;
}

describe('a path of backups', () => {
  const asked: { operation: string | undefined; waitsMs: number | undefined }[] = [];
  let gateway: TestGateway;

  beforeAll(async () => {
    const startedAt = Date.now();
    gateway = await startTestGateway({
      clock: { now: () => startedAt },
      wrap: (connections) => ({
        ...connections,
        request(service, url, request, options) {
          const [, operation] = /(Rest[A-Za-z]+)/.exec(request.query) ?? [];
          if (service === 'backup' && operation) asked.push({ operation, waitsMs: Math.ceil(options.timeoutMs ?? 0) });
          return connections.request(service, url, request, options);
        },
      }),
    });
  });
  beforeEach(() => {
    asked.splice(0);
    gateway.backupWork.archives.set('there.tar.gz', Buffer.from('there'));
  });
  afterAll(() => gateway.stop());

  it.each([
    ['GET', 'backups', 'RestBackups', 20_000],
    ['HEAD', 'backups/there.tar.gz', 'RestBackup', 20_000],
    ['DELETE', 'backups/there.tar.gz', 'RestDeleteBackup', 20_000],
    ['GET', 'backup/undo', 'RestUndoableRestore', 10_000],
    ['POST', 'backup/new-epoch', 'RestNewEpoch', 600_000],
  ])(
    'runs one operation of the graph, which is waited for as long as it may take: %s %s',
    async (method, path, operation, waitsMs) => {
      const response = await fetch(`${gateway.origin}/api/${path}`, { method });
      await response.arrayBuffer();
      expect(response.status).toBe(200);
      expect(asked).toEqual([{ operation, waitsMs }]);
    },
  );

  it('goes past the graph only where it streams', () => {
    const { work } = gateway.backupWork;
    const past = [...archiveEndpoints(work), ...restoreEndpoints(work)].filter(({ needs }) => !needs);
    expect(past.length).toBeGreaterThan(0);
    expect(past.filter((endpoint) => !streams(endpoint)).map(({ name }) => name)).toEqual([]);
  });
});

const streams = ({ lineSchema, bodySchema, answerSchema }: Endpoint): boolean =>
  lineSchema !== undefined || [bodySchema, answerSchema].some((schema) => schema && isBytes(schema));
