import { AppError, conflict, notFound } from '@taskmesh/contracts';
import type { BackupWork, RestoreEnd } from '@taskmesh/internal-api';
import { randomBytes } from 'node:crypto';
import { request as nodeRequest } from 'node:http';
import { Readable } from 'node:stream';
import { request as rawRequest } from 'undici';
import { startTestGateway } from './fakes/gateway.ts';
import { restOf } from './fakes/rest.ts';

const MIB = 1024 * 1024;
const RESTORED_AT = encodeURIComponent('2026-11-20T10:00:00.000Z');
/** The operations of the graph that backup received, with their time limits in seconds. */
const asked: [operation: string | undefined, waitsS: number][] = [];

const gateway = await startTestGateway({
  mode: 'http',
  wrap: (connections) => ({
    ...connections,
    request(service, url, request, options) {
      if (service === 'backup')
        asked.push([/Rest[A-Za-z]+/.exec(request.query)?.[0], Math.ceil((options.timeoutMs ?? 0) / 1_000)]);
      return connections.request(service, url, request, options);
    },
  }),
});
const { call } = await restOf(gateway);

/** Overrides what backup does until the end of the test. */
const behave = (changes: Partial<BackupWork>) => Object.assign(gateway.backupWork.work, changes);
let usual: BackupWork;
beforeEach(() => void (usual = { ...gateway.backupWork.work }));
afterEach(() => void behave(usual));

const linesOf = async (path: string) => {
  const { status, text } = await call('POST', path, { headers: { accept: 'application/x-ndjson' } });
  const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line)); // prettier-ignore
  return { status, lines, last: lines.at(-1) };
};

it('the headers of a download name and identify the archive', async () => {
  const stored = await call('PUT', '/api/backups/big one.tar.gz', { body: randomBytes(9 * MIB) });
  for (const method of ['GET', 'HEAD'])
    expect(Object.fromEntries((await call(method, '/api/backups/big one.tar.gz')).headers)).toMatchObject({
      'content-length': String(9 * MIB),
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename="big_one.tar.gz"; filename*=UTF-8''big%20one.tar.gz`,
      etag: `"${stored.json.data.sha256}"`,
    });
  behave({ download: async () => undefined });
  for (const method of ['GET', 'HEAD', 'DELETE'])
    expect((await call(method, '/api/backups/none.tar.gz')).status).toBe(404);
});

const DRY_RUN = { possible: false, obstacles: ['tasks: somebody uses it'] };
const NOT_POSSIBLE = 'The restore could not be done now. Nothing was changed.';

it.each<[string, object]>([
  ['/api/backups', { status: 201, data: { file: 'a.tar.gz' } }],
  ['/api/backups/scan', { status: 200, data: { archives: 1, added: 1 } }],
  ['/api/backups/a.tar.gz/verify', { status: 200, data: { verifiedAt: expect.any(String) } }],
  ['/api/backup/restore?file=a.tar.gz', { status: 200, databaseRestored: true, dropped: ['tasks.invoices'] }],
  ['/api/backup/dry-run?file=a.tar.gz&stores=tasks', { status: 200, data: DRY_RUN, message: NOT_POSSIBLE }],
  ['/api/backup/undo', { status: 200, databaseRestored: true }],
])('POST %s reports progress to clients that accept lines, and ends with the status', async (path, end) => {
  const { status, lines } = await linesOf(path);
  const progress = { phase: 'dump', store: 'tasks', doneBytes: 1, totalBytes: 2 };
  expect({ status, lines }).toMatchObject({ status: 200, lines: [{ progress }, { success: true, ...end }] });
  for (const accept of ['application/json, application/x-ndjson;q=0.5', 'application/x-ndjson;q=0']) {
    const { json, ...plain } = await call('POST', path, { headers: { accept } });
    expect([plain.status, json.success]).toEqual([lines[1].status, true]);
  }
});

it('the last line reports why work failed after progress was sent', async () => {
  const failWith = (error: Error) =>
    behave({ create: async (onProgress) => (onProgress?.({ phase: 'dump' }), Promise.reject(error)) });
  failWith(conflict('A store is not fit.'));
  const failed = { success: false, message: 'A store is not fit.', error: 'A store is not fit.' };
  expect(await linesOf('/api/backups')).toMatchObject({ status: 200, last: { status: 409, ...failed } });
  failWith(new Error('a secret'));
  const { last } = await linesOf('/api/backups');
  expect(last).toMatchObject({ status: 500, message: 'Internal server error.' });
  expect(JSON.stringify(gateway.logged)).toContain('a secret');
  behave({ verify: () => Promise.reject(notFound('There is none.')) });
  expect(await linesOf('/api/backups/none.tar.gz/verify')).toMatchObject({ status: 404, last: { success: false } });
});

it.each<[RestoreEnd['outcome'], number]>([
  ['NOTHING_TO_UNDO', 404],
  ['OTHER_RESTORE', 409],
  ['UNKNOWN', 500],
  ['BUSY', 503],
  ['RESTORED_CLEAN_UP_PENDING', 200],
])('an undo that ends with %s gets a %d', async (outcome, status) => {
  const success = status === 200;
  const end = { success, message: 'Done.', error: success ? null : 'Not now.', outcome, dropped: [] };
  behave({ undo: async () => end });
  const { json, ...response } = await call('POST', '/api/backup/undo');
  expect([response.status, json.success, json.error]).toEqual([status, success, success ? undefined : 'Not now.']);
});

it('an undo names the restore that was seen, and a new epoch is at least as high as required', async () => {
  const seen: unknown[] = [];
  behave({ undo: (onProgress, restoredAt) => (seen.push(restoredAt), usual.undo(onProgress, restoredAt)) });
  const undo = (query: string) => call('POST', `/api/backup/undo${query}`);
  expect((await undo(`?restoredAt=${RESTORED_AT}`)).status).toBe(200);
  expect(seen).toEqual([decodeURIComponent(RESTORED_AT)]);
  for (const nonsense of ['', 'yesterday', '2026-11-20', '1', `${RESTORED_AT}&restoredAt=${RESTORED_AT}`])
    expect([nonsense, (await undo(`?restoredAt=${nonsense}`)).status]).toEqual([nonsense, 400]);
  expect(await undo(`?restored_at=${RESTORED_AT}`)).toMatchObject({
    status: 400,
    json: { error: expect.stringContaining('There is: restoredAt.') },
  });
  const begin = (query: string) => call('POST', `/api/backup/new-epoch?${query}`);
  expect(await begin('atLeast=29000000')).toMatchObject({ json: { data: { epoch: 29_000_000 } } });
  for (const nonsense of ['', '-5', '1e9', '1&atLeast=2', '0', '2000000001', '9999999999', '1&atleast=5'])
    expect([nonsense, (await begin(`atLeast=${nonsense}`)).status]).toEqual([nonsense, 400]);
  expect(seen).toHaveLength(1);
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
])('the parameters "%s" of a restore are applied', async (query, parameters) => {
  const { json } = await call('POST', `/api/backup/restore?file=a.tar.gz${query}`);
  const { message, ...others } = json;
  expect(JSON.parse(message)).toEqual({ allowLoss: false, ...parameters });
  const hasLists = /(allowLoss|safetyBackup)=true/.test(query);
  const lists = { dropped: ['tasks.invoices'], safetyBackup: 'before.tar.gz' };
  expect(others).toEqual({ success: true, ...(hasLists && lists) });
});

const MISSPELT = 'There are: file, allowLoss, stores';
it.each([
  ...['decryptedFrom=a&decryptedFrom=b', 'safetyBackup=yes', 'safetyBackup=true&safetyBackup=true'].map((query) => [
    query,
    '',
  ]),
  ...['store=tasks', 'Stores=tasks', 'stores[]=tasks', 'DRYRUN=1', 'allow-loss=true'].map((query) => [query, MISSPELT]),
])('a restore is refused with %s, which may be a misspelt option', async (query, reason) => {
  behave({ restore: () => Promise.reject(new Error('It was asked to restore.')) });
  const response = await call('POST', `/api/backup/restore?file=a.tar.gz&${query}`);
  expect(response).toMatchObject({ status: 400, json: { error: expect.stringContaining(reason ?? '') } });
});

it('a dry run is refused without a file, and with unknown parameters', async () => {
  for (const query of ['', '?file=x&t=1']) expect((await call('POST', `/api/backup/dry-run${query}`)).status).toBe(400);
});

it('an upload is refused early without losing the response, however much is still to come', async () => {
  behave({ upload: () => Promise.reject(new AppError('PAYLOAD_TOO_LARGE', 'Too large.')) });
  const endless = Readable.from(Array.from({ length: 200 }, () => Buffer.alloc(MIB)));
  const url = `${gateway.origin}/api/backups/huge.tar.gz`;
  const { statusCode, body } = await rawRequest(url, { method: 'PUT', body: endless });
  const error = 'Too large.';
  expect([statusCode, await body.json()]).toEqual([413, { success: false, message: error, error }]);
  expect((await call('GET', '/api/backups')).status).toBe(200);
});

it.each<[number, Record<string, string>]>([
  [403, { origin: 'https://evil.example' }],
  [100, {}],
])('100 Continue is sent only to a caller that may upload: %d', async (status, headers) => {
  const first = await new Promise<number | undefined>((resolve) => {
    const announced = { expect: '100-continue', 'content-length': '9', ...headers };
    const sent = nodeRequest(`${gateway.origin}/api/backups/x.tar.gz`, { method: 'PUT', headers: announced });
    sent.on('error', () => undefined);
    sent.once('continue', () => (resolve(100), sent.destroy()));
    sent.once('response', ({ statusCode }) => (resolve(statusCode), sent.destroy()));
    sent.flushHeaders();
  });
  expect(first).toBe(status);
});

it.each([
  ['GET', 'backups', 'RestBackups', 20],
  ['HEAD', 'backups/there.tar.gz', 'RestBackup', 20],
  ['DELETE', 'backups/there.tar.gz', 'RestDeleteBackup', 20],
  ['GET', 'backup/undo', 'RestUndoableRestore', 10],
  ['POST', 'backup/new-epoch', 'RestNewEpoch', 600],
])(
  '%s %s runs one operation of the graph, with the time limit that it needs',
  async (method, path, operation, waitsS) => {
    asked.splice(0);
    expect((await call(method, `/api/${path}`)).status).toBe(200);
    expect(asked).toEqual([[operation, waitsS]]);
  },
);
