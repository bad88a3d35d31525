import { AppError, conflict, unavailable } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import { createDescriptionCheck, type ApiDescription, type DescriptionCheck } from '@taskmesh/testing/api-description';
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { request as rawRequest } from 'undici';
import { archiveEndpoints } from '../src/rest/backup/archives.ts';
import { restoreEndpoints } from '../src/rest/backup/restores.ts';
import { isBytes, type Endpoint } from '../src/rest/endpoint.ts';
import type { OpenApiDocument } from '../src/rest/openapi/document.ts';
import type { Operation, Response } from '../src/rest/openapi/types.ts';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { guess } from './fakes/guess.ts';

const LINES = { accept: 'application/x-ndjson' };
const MIB = 1024 * 1024;

interface Line {
  progress?: { phase: string };
  status?: number;
  success?: boolean;
  message?: string;
  error?: string;
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
    check = await checkOf(gateway);
  });
  afterAll(() => gateway.stop());

  const call = (method: string, path: string, options: Options = {}) => ask(gateway, check, method, path, options);

  it('are made, listed, fetched and deleted', async () => {
    const made = await call('POST', '/api/backups');
    expect(made).toMatchObject({ status: 201, json: { success: true, data: { stores: ['tasks', 'auth'] } } });
    const { file, sizeBytes, sha256 } = made.json.data;
    expect((await call('GET', '/api/backups')).json).toEqual({
      success: true,
      message: '1 backup found.',
      count: 1,
      data: [made.json.data],
    });

    const fetched = await call('GET', `/api/backups/${file}`);
    expect(createHash('sha256').update(fetched.text).digest('hex')).toBe(sha256);
    const head = await call('HEAD', `/api/backups/${file}`);
    for (const { headers } of [fetched, head])
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-length': String(sizeBytes),
        'content-type': 'application/gzip',
        'content-disposition': `attachment; filename="${file}"`,
        etag: `"${sha256}"`,
      });

    expect((await call('DELETE', `/api/backups/${file}`)).json).toEqual({ success: true, message: 'Backup deleted.' });
    expect((await call('GET', `/api/backups/${file}`)).status).toBe(404);
    expect((await call('HEAD', `/api/backups/${file}`)).status).toBe(404);
  });

  it('tell their progress to who asks for lines, and the end with its status', async () => {
    const made = await call('POST', '/api/backups', { headers: LINES });
    expect(made.status).toBe(200);
    const [progress, end, ...none] = linesOf(made.text);
    expect(progress).toEqual({ progress: { phase: 'dump', store: 'tasks', doneBytes: 1, totalBytes: 2 } });
    expect(end).toMatchObject({ status: 201, success: true, data: { file: expect.any(String) } });
    expect(none).toEqual([]);
    const scanned = linesOf((await call('POST', '/api/backups/scan', { headers: LINES })).text).at(-1);
    expect(scanned).toMatchObject({ status: 200, data: { archives: 1, added: 1, unread: 0 } });
    const file = end?.data?.file ?? '';
    const verified = linesOf((await call('POST', `/api/backups/${file}/verify`, { headers: LINES })).text).at(-1);
    expect(verified).toMatchObject({ status: 200, data: { verifiedAt: expect.any(String) } });
    const restored = linesOf((await call('POST', `/api/backup/restore?file=${file}`, { headers: LINES })).text).at(-1);
    expect(restored).toEqual({ status: 200, success: true, message: 'Database restored.', databaseRestored: true });
  });

  it('tell only the end to who wants no lines, or them less than JSON', async () => {
    for (const accept of ['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0'])
      expect(await call('POST', '/api/backups', { headers: { accept } })).toMatchObject({ status: 201 });
  });

  it('say how a restore was taken back', async () => {
    const undo = () => call('POST', '/api/backup/undo', { headers: LINES });
    gateway.backupWork.undos.push('NOTHING_TO_UNDO', 'UNKNOWN', 'RESTORED_CLEAN_UP_PENDING');
    expect(await undo()).toMatchObject({ status: 404, json: { success: false, error: expect.any(String) } });
    expect(await undo()).toMatchObject({ status: 500, json: { success: false, error: expect.any(String) } });
    for (const _end of ['clean-up pending', 'done'])
      expect(linesOf((await undo()).text).at(-1)).toMatchObject({ status: 200, success: true, databaseRestored: true });
  });

  it('say which restore can be taken back, and how high a new epoch must be', async () => {
    expect(await call('GET', '/api/backup/undo')).toMatchObject({
      status: 200,
      json: { success: true, data: { file: 'a.tar.gz', isUndo: false, replacedKeptMs: 0 } },
    });
    expect(await call('POST', '/api/backup/new-epoch?atLeast=29000000')).toMatchObject({
      json: { data: { epoch: 29_000_000 } },
    });
    for (const nonsense of ['', '-5', '1e9', '1&atLeast=2', '0', '2000000001', '9999999999'])
      expect(await call('POST', `/api/backup/new-epoch?atLeast=${nonsense}`)).toMatchObject({ status: 400 });
  });

  it('take back the restore that was seen, and no other one', async () => {
    const { json } = await call('GET', '/api/backup/undo');
    const undo = (query: string) => call('POST', `/api/backup/undo?${query}`);
    const seen = encodeURIComponent(json.data.restoredAt);
    expect(await undo(`restoredAt=${seen}`)).toMatchObject({ status: 200, json: { success: true } });
    expect(await undo('restoredAt=2026-11-20T10:00:00.001Z')).toMatchObject({
      status: 409,
      json: { success: false, error: expect.any(String) },
    });
    for (const nonsense of ['', 'yesterday', '2026-11-20', '1', `${seen}&restoredAt=${seen}`])
      expect([nonsense, (await undo(`restoredAt=${nonsense}`)).status]).toEqual([nonsense, 400]);
    for (const misspelt of ['restoredat', 'restored_at', 'at', 'file'])
      expect(await undo(`${misspelt}=${seen}`)).toMatchObject({
        status: 400,
        json: { error: expect.stringContaining('There is: restoredAt.') },
      });
  });

  it('are 503 while another restore is running', async () => {
    gateway.backupWork.undos.push('BUSY');
    const { headers, ...answer } = await call('POST', '/api/backup/undo');
    expect(answer).toMatchObject({ status: 503, json: { success: false, error: expect.any(String) } });
    expect(headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('hear of no parameter that is unknown where all are ours', async () => {
    for (const path of ['/api/backup/new-epoch?atleast=5', '/api/backup/dry-run?file=x&t=1'])
      expect(await call('POST', path)).toMatchObject({
        status: 400,
        json: { error: expect.stringMatching(/There (is|are): /) },
      });
  });

  it('leave something out of an archive only for who allows it, and tell what', async () => {
    const { json } = await call('POST', '/api/backups');
    const { file } = json.data;
    const restored = async (query: string) => (await call('POST', `/api/backup/restore?file=${file}${query}`)).json;
    const done = { success: true, message: 'Database restored.' };
    for (const query of ['', '&allowLoss=false', '&allowLoss=', '&allowLoss=1', '&allowLoss=true&allowLoss=true'])
      expect(await restored(query)).toEqual(done);
    expect(await restored('&allowLoss=true')).toEqual({ ...done, dropped: ['tasks.invoices'] });
  });

  it('restore only the stores that are named, however they are, and never pass a name over', async () => {
    const { json } = await call('POST', '/api/backups');
    const restored = async (query: string) =>
      (await call('POST', `/api/backup/restore?file=${json.data.file}${query}`)).json.message;
    expect(await restored('&stores=tasks')).toBe('Restored: ["tasks"].');
    for (const query of ['&stores=tasks,a%26b', '&stores=tasks&stores=a%26b'])
      expect(await restored(query)).toBe('Restored: ["tasks","a&b"].');
    expect(await restored('&stores=')).toBe('Restored: [].');
    expect(await restored('&stores=tasks,')).toBe('Restored: ["tasks",""].');
  });

  it('name the safety backup if one was asked for, and refuse misspelt parameters', async () => {
    const { json } = await call('POST', '/api/backups');
    const path = `/api/backup/restore?file=${json.data.file}&safetyBackup=`;
    const done = { success: true, message: 'Database restored.' };
    expect((await call('POST', `${path}true`)).json).toEqual({ ...done, safetyBackup: 'before.tar.gz' });
    expect((await call('POST', `${path}false`)).json).toEqual(done);
    expect((await call('POST', `${path}false&decryptedFrom=a%26b.tar.gz.age`)).json.message).toBe(
      'Restored: a&b.tar.gz.age.',
    );
    expect((await call('POST', `${path}false&decryptedFrom=a&decryptedFrom=b`)).status).toBe(400);
    for (const wrong of ['', 'yes', 'true&safetyBackup=true', 'false&store=tasks', 'false&dryRun=true'])
      expect(await call('POST', path + wrong)).toMatchObject({ status: 400, json: { error: expect.any(String) } });
  });

  it('pass over what means nothing to a restore, and nothing that is meant to change what it does', async () => {
    const { json } = await call('POST', '/api/backups');
    const restore = (query: string) => call('POST', `/api/backup/restore?file=${json.data.file}&${query}`);
    for (const legacy of ['t=1', 'user=a', 'constructor=1', 'download', 'filename=x', 'loss=1'])
      expect(await restore(legacy)).toMatchObject({ status: 200 });
    for (const parameter of [
      ...['store=tasks', 'Stores=tasks', 'stores[]=tasks', 'dry-run=true', 'dry_run', 'DRYRUN=1'],
      ...['allow-loss=true', 'allowloss=true', 'safety_backup=true', 'no-safety-backup=true'],
      ...['only=tasks', 'only=', 'stors=tasks', 'storse=tasks', 'storees=tasks', 'alowLoss=true', 'safteyBackup=true'],
    ])
      expect([parameter, await restore(parameter)]).toMatchObject([
        parameter,
        { status: 400, json: { error: expect.stringContaining('There are: file, allowLoss, stores, safetyBackup') } },
      ]);
  });

  it('tell what a restore would change, and do not restore', async () => {
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
    expect((await call('POST', '/api/backup/dry-run')).status).toBe(400);
    expect((await call('POST', '/api/backup/dry-run?file=none.tar.gz')).status).toBe(404);
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

  it('are brought by upload, in whatever size, as they are', async () => {
    const content = randomBytes(20 * MIB);
    const stored = await call('PUT', '/api/backups/big one.tar.gz', { body: content });
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(stored).toMatchObject({
      status: 201,
      json: { data: { file: 'big one.tar.gz', sizeBytes: content.length, sha256 } },
    });
    const { body, headers } = await rawRequest(`${gateway.origin}/api/backups/big%20one.tar.gz`);
    expect(
      createHash('sha256')
        .update(Buffer.from(await body.arrayBuffer()))
        .digest('hex'),
    ).toBe(sha256);
    expect(headers['content-disposition']).toBe(
      `attachment; filename="big_one.tar.gz"; filename*=UTF-8''big%20one.tar.gz`,
    );
    const other = await call('PUT', '/api/backups/big one.tar.gz', { body: 'something else' });
    expect(other).toMatchObject({ status: 409, json: { success: false, error: expect.stringContaining('another') } });
  });

  it('are not stored when the client goes away in the middle', async () => {
    const { hostname, port } = new URL(gateway.origin);
    const socket = connect(Number(port), hostname);
    socket.write('PUT /api/backups/half.tar.gz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf of it');
    await eventually(() => expect(gateway.backupWork.uploading()).toBe(1));
    socket.destroy();
    await eventually(() => expect(gateway.backupWork.uploading()).toBe(0));
    expect(gateway.backupWork.archives.has('half.tar.gz')).toBe(false);
  });

  it('are refused early without losing the answer, however much is still to come', async () => {
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
    expect([statusCode, await body.json()]).toEqual([
      413,
      { success: false, message: 'Too large.', error: 'Too large.' },
    ]);
    expect((await call('GET', '/api/backups')).status).toBe(200);
  });

  it('are asked to be sent only when the caller may send them', async () => {
    const refused = await expecting(gateway, ['Origin: https://evil.example']);
    expect(refused).toMatch(/^HTTP\/1\.1 403 /);
    expect(refused).not.toContain('100 Continue');
    expect(await expecting(gateway, [])).toMatch(/^HTTP\/1\.1 100 Continue/);
  });

  it('know their methods', async () => {
    for (const [path, allow] of [
      ['/api/backups', 'GET, HEAD, POST, OPTIONS'],
      ['/api/backups/x.tar.gz', 'GET, HEAD, PUT, DELETE, OPTIONS'],
      ['/api/backups/x.tar.gz/verify', 'POST, OPTIONS'],
      ['/api/backups/scan', 'POST, OPTIONS'],
      ['/api/backup/restore', 'POST, OPTIONS'],
      ['/api/backup/undo', 'GET, HEAD, POST, OPTIONS'],
      ['/api/backup/dry-run', 'POST, OPTIONS'],
      ['/api/backup/new-epoch', 'POST, OPTIONS'],
    ] as const) {
      const response = await fetch(`${gateway.origin}${path}`, { method: 'PATCH' });
      expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
      expect(await response.json()).toMatchObject({ success: false, error: expect.any(String) });
    }
  });

  it('answer everything that is documented, and as documented', async () => {
    const withToken = await startTestGateway({ mode, env: { BACKUP_TOKEN: 'secret' }, beside: gateway });
    const guessed = await startTestGateway({ mode, env: { BACKUP_TOKEN: 'secret' }, beside: gateway });
    await guess(guessed.origin, 10);
    const tokenCheck = await checkOf(withToken);
    const { archives, failNext, progress, undos } = gateway.backupWork;
    const document = await documentOf(gateway);
    const covered = new Set<string>();
    const promised: string[] = [];
    for (const [path, operations] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(operations)) {
        if (!operation.tags.includes('Backups')) continue;
        for (const status of Object.keys(operation.responses)) {
          promised.push(`${method.toUpperCase()} ${path} ${status}`);
          archives.set('there.tar.gz', Buffer.from('there'));
          const takesFile = /restore$|dry-run$/.test(path);
          const file = status === '404' ? 'none.tar.gz' : 'there.tar.gz';
          const target = `${path.replace('{file}', file)}${takesFile && status !== '400' ? `?file=${file}` : ''}`;
          const failure = FAILURES[status];
          if (failure && !(status === '400' && takesFile)) failNext(failure);
          if (status === '404' && path.endsWith('undo')) undos.push('NOTHING_TO_UNDO');
          const own = { '401': withToken, '429': guessed }[status] ?? gateway;
          const options: Options = {
            ...(method === 'put' && { body: 'there' }),
            ...(status === '200' && operation.responses['201'] && { headers: LINES }),
            ...(status === '403' && { headers: { 'x-forwarded-for': '10.0.0.1' } }),
            ...(status === '429' && { headers: { authorization: 'Bearer secret' } }),
          };
          const answer = await ask(own, own === gateway ? check : tokenCheck, method.toUpperCase(), target, options);
          covered.add(`${method.toUpperCase()} ${path} ${answer.status}`);
          expect(answer.headers.get('cache-control')).toBe('no-store');
          if (status === '500') expect(answer.json.message).toBe('Internal server error.');
          if (/^(createBackup|uploadBackup|verifyBackup|deleteBackup)$/.test(operation.operationId) && status < '300')
            expect(answer.json.message).toBe(exampleOf(operation, status)?.message);
        }
      }
    await guessed.stop();
    await withToken.stop();
    expect(progress.length).toBeGreaterThan(0);
    expect([...covered].toSorted()).toEqual(promised.toSorted());
    expect(promised.length).toBeGreaterThan(35);
  });
});

const FAILURES: Record<string, Error> = {
  '400': new AppError('BAD_USER_INPUT', 'This is no archive.'),
  '409': conflict('There is another archive of that name.'),
  '413': new AppError('PAYLOAD_TOO_LARGE', 'Too large.'),
  '500': new Error('a defect'),
  '503': unavailable(),
};

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

  const send = async (method: string, path: string) => {
    const body = method === 'PUT' ? { body: 'there' } : {};
    const response = await fetch(`${gateway.origin}/api/${path}`, { method, ...body });
    await response.arrayBuffer();
    return response.status;
  };

  it.each([
    ['GET', 'backups', 'RestBackups', 20_000],
    ['HEAD', 'backups/there.tar.gz', 'RestBackup', 20_000],
    ['DELETE', 'backups/there.tar.gz', 'RestDeleteBackup', 20_000],
    ['GET', 'backup/undo', 'RestUndoableRestore', 10_000],
    ['POST', 'backup/new-epoch', 'RestNewEpoch', 600_000],
  ])(
    'runs one operation of the graph, which is waited for as long as it may take: %s %s',
    async (method, path, operation, waitsMs) => {
      expect(await send(method, path)).toBe(200);
      expect(asked).toEqual([{ operation, waitsMs }]);
    },
  );

  it.each([
    ['POST', 'backups', 201],
    ['POST', 'backups/scan', 200],
    ['PUT', 'backups/there.tar.gz', 201],
    ['GET', 'backups/there.tar.gz', 200],
    ['POST', 'backups/there.tar.gz/verify', 200],
    ['POST', 'backup/restore?file=there.tar.gz', 200],
    ['POST', 'backup/dry-run?file=there.tar.gz', 200],
    ['POST', 'backup/undo', 200],
  ])('runs none where it streams, even for a client that wants only the end: %s %s', async (method, path, status) => {
    expect(await send(method, path)).toBe(status);
    expect(asked).toEqual([]);
  });

  it('goes past the graph only where it streams', () => {
    const { work } = gateway.backupWork;
    const past = [...archiveEndpoints(work), ...restoreEndpoints(work)].filter(({ needs }) => !needs);
    expect(past.length).toBeGreaterThan(0);
    expect(past.filter((endpoint) => !streams(endpoint)).map(({ name }) => name)).toEqual([]);
  });
});

const streams = ({ lineSchema, bodySchema, answerSchema }: Endpoint): boolean =>
  lineSchema !== undefined || [bodySchema, answerSchema].some((schema) => schema && isBytes(schema));

describe('backups while their service is away', () => {
  it('are a 503 each, and do not take long', async () => {
    const gateway = await startTestGateway({ mode: 'http' });
    await gateway.stopService('backup');
    try {
      for (const [method, path] of [
        ['GET', '/api/backups'],
        ['POST', '/api/backups'],
        ['GET', '/api/backups/x.tar.gz'],
        ['PUT', '/api/backups/x.tar.gz'],
        ['DELETE', '/api/backups/x.tar.gz'],
        ['POST', '/api/backup/restore?file=x'],
        ['POST', '/api/backup/undo'],
        ['GET', '/api/backup/undo'],
        ['POST', '/api/backup/dry-run?file=x'],
        ['POST', '/api/backup/new-epoch'],
      ] as const) {
        const body = method === 'PUT' ? { body: 'archive' } : {};
        const response = await fetch(`${gateway.origin}${path}`, { method, ...body });
        expect([method, path, response.status]).toEqual([method, path, 503]);
        expect(response.headers.get('retry-after')).toBe('1');
      }
    } finally {
      await gateway.stop();
    }
  });
});

const exampleOf = (operation: Operation, status: string) =>
  (operation.responses[status] as Response).content?.['application/json']?.example as { message: string } | undefined;

interface Options {
  headers?: Record<string, string>;
  body?: Buffer | string;
}

async function ask(gateway: TestGateway, check: DescriptionCheck, method: string, path: string, options: Options) {
  const { headers = {}, body } = options;
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
}

async function documentOf({ origin }: TestGateway): Promise<OpenApiDocument> {
  return (await (await fetch(`${origin}/api/openapi.json`)).json()) as OpenApiDocument;
}

const checkOf = async (gateway: TestGateway) => createDescriptionCheck((await documentOf(gateway)) as ApiDescription);

/** The first answer to a client that waits before it sends its body. */
function expecting({ origin }: TestGateway, headers: string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.write(
      [
        'PUT /api/backups/x.tar.gz HTTP/1.1',
        'Host: localhost',
        'Content-Length: 9',
        'Expect: 100-continue',
        ...headers,
        '',
        '',
      ].join('\r\n'),
    );
    socket.once('data', (bytes) => {
      socket.destroy();
      resolve(bytes.toString());
    });
    socket.once('error', reject);
  });
}
