import {
  AppError,
  badUserInput,
  conflict,
  forbidden,
  notFound,
  rateLimited,
  unauthenticated,
  unavailable,
} from '@taskmesh/contracts';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';
import { eventually } from '@taskmesh/testing';
import type { DescribedOperation } from '@taskmesh/testing/api-description';
import type { Connections } from '../src/connections/connections.ts';
import { startTestGateway } from './fakes/gateway.ts';
import { guess, restOf, type RestOptions } from './fakes/rest.ts';

const USER = '0199e1c2-5b7a-7cc3-98c4-dc0c0c07398f';
const ID = '0199e1c3-0a41-7d1e-8d5c-2f6a8a1b9c3d';
const SECRET = 'connect ECONNREFUSED 10.0.0.7:5432';

/** The error that the services return instead of a result. */
let failure: Error | undefined;
/** The address from which too many wrong tokens were sent. */
const GUESSER = { 'x-forwarded-for': '203.0.113.9' };

const resultOf = (error: Error): SubgraphResult => {
  const { code, issues, retryAfterSeconds } = error as Partial<AppError>;
  const extensions = { code: code ?? 'INTERNAL_SERVER_ERROR', issues, retryAfterSeconds };
  return { data: null, errors: [{ message: error.message, extensions }] };
};

/** Makes all of the functions fail while there is a failure. */
const failingPart = <Part extends object>(part: Part): Part =>
  Object.fromEntries(
    Object.entries(part).map(([name, work]: [string, (...args: unknown[]) => unknown]) => [
      name,
      async (...args: unknown[]) => (failure ? Promise.reject(failure) : work(...args)),
    ]),
  ) as Part; // the same names

const failing = (connections: Connections): Connections => ({
  ...connections,
  async request(service, url, request, options) {
    if (failure) return resultOf(failure);
    return (await exported(request)) ?? connections.request(service, url, request, options);
  },
  signIn: failingPart(connections.signIn),
  backup: failingPart(connections.backup),
  deadLetters: failingPart(connections.deadLetters),
});

/** The audit trail of the exported account, on several pages. */
const IDS = Array.from({ length: 1_203 }, (_, index) => 1_203 - index);
/** The field whose service is unavailable, and the promise that pages of tasks wait for. */
let broken: string | undefined;
let held: Promise<void> | undefined;

const AT = '2026-11-20T10:00:00.000Z';
const entry = (id: number) => ({ id: String(id), kind: 'session.opened', sessionId: null, ip: '192.0.2.7', at: AT });
const TASK = {
  ...{ id: ID, description: null, completed: false, dueDate: null, category: null, priority: 'LOW' },
  ...{ createdAt: AT, updatedAt: AT, version: 1 },
};
type Page = { first?: number; after?: string | null };
type Fields = Record<string, unknown>;
const EXPORTED: Record<string, (page: Page) => Fields | Promise<Fields>> = {
  me: () => ({ me: { id: USER, email: 'a@b.c', name: 'Ada', emailConfirmedAt: AT } }),
  sessions: () => ({ sessions: [] }),
  personalTokens: () => ({ personalTokens: [] }),
  linkedIdentities: () => ({ linkedIdentities: [] }),
  async tasks({ after }) {
    await held;
    return { tasks: { edges: [], pageInfo: { hasNextPage: !after, endCursor: 'middle' } } };
  },
  auditEntries: ({ first = 0, after }) => ({
    auditEntries: IDS.slice(after ? IDS.indexOf(Number(after)) + 1 : 0)
      .slice(0, first)
      .map(entry),
  }),
};

async function exported({ query, variables }: SubgraphRequest): Promise<SubgraphResult | undefined> {
  const [, name = ''] = /\{\s*(\w+)/.exec(query) ?? [];
  if (name === broken) throw unavailable();
  const data = await EXPORTED[name]?.(variables ?? {});
  return data && { data };
}

const gateway = await startTestGateway({ wrap: failing });
const env = { BACKUP_TOKEN: 'secret', TRUSTED_PROXIES: '127.0.0.1' };
const withToken = await startTestGateway({ env, beside: gateway });
await guess(withToken.origin, 10, { headers: GUESSER });
const { description, call } = await restOf(gateway);
afterEach(() => {
  failure = undefined;
});

const FAILURES: Record<string, Error> = {
  '400': badUserInput([{ path: 'name', message: 'name is not as it should be.' }]),
  '401': unauthenticated(),
  '403': forbidden(),
  '404': notFound('There is none.'),
  '409': conflict('It is there already.'),
  '412': new AppError('PRECONDITION_FAILED', 'The task has a different version.'),
  '413': new AppError('PAYLOAD_TOO_LARGE', 'Too large.'),
  '422': badUserInput([{ path: 'idempotencyKey', message: 'The key belongs to another task.' }]),
  '429': rateLimited(7),
  '500': new TypeError(SECRET),
  '503': unavailable(undefined, new Error(SECRET)),
};

const isOfOperators = ({ tags }: DescribedOperation) => tags.some((tag) => ['Backups', 'Operations'].includes(tag));

/** A request that must be refused with this status. */
async function provoke(status: string, method: string, path: string, operation: DescribedOperation) {
  const { content } = operation.requestBody ?? {};
  const example = content?.['application/json']?.example as object | undefined;
  const needsToken = operation.security.length > 0;
  const mayLackToken = operation.security.some((scheme) => Object.keys(scheme).length === 0);
  const headers: Record<string, string> = {
    ...(example && { 'content-type': 'application/json' }),
    ...(needsToken && !isOfOperators(operation) && { authorization: `Bearer ${await gateway.auth.token(USER)}` }),
    cookie: 'taskmesh-sign-in=state.nonce.verifier',
  };
  const isRestore = /restore$|dry-run$/.test(path);
  const query = path.endsWith('/oidc/start') ? `?code_challenge=${'c'.repeat(43)}` : isRestore ? '?file=a.tar.gz' : '';
  const to = path.replace('{deadLetterId}', '1').replace(/\{\w+\}/, ID);
  const body = example ?? (content && 'bytes');
  const send = (more: Record<string, string> = {}, own: RestOptions = {}) =>
    call(method, to + query, { headers: { ...headers, ...more }, body, ...own });
  if (isOfOperators(operation) && needsToken) {
    if (status === '401') return send({}, { origin: withToken.origin });
    if (status === '429') return send({ ...GUESSER, authorization: 'Bearer secret' }, { origin: withToken.origin });
  }
  if (isOfOperators(operation) && status === '403') return send({ 'x-forwarded-for': '10.0.0.1' });
  // An error that the request itself cannot cause is returned by the service behind it.
  failure = FAILURES[status];
  const { parameters = [] } = operation;
  const [parameter] = parameters.filter((each) => each.in === 'query');
  if (status === '400' && example) return send({}, { body: '{' });
  // No parameter is accepted twice.
  if (status === '400' && parameter) return call(method, `${to}?${parameter.name}=x&${parameter.name}=x`, { headers });
  if (status === '400' && parameters.some((each) => each.name === 'If-Match')) return send({ 'if-match': '1' });
  if (status === '413' && example) return send({}, { body: JSON.stringify({ padding: 'x'.repeat(1_024 * 1_024) }) });
  if (status === '415') return send({ 'content-type': 'text/plain' });
  if (status === '401' && needsToken && !mayLackToken) return send({ authorization: '' });
  return send();
}

it('returns every documented error as documented', async () => {
  const given: string[] = [];
  const promised: string[] = [];
  for (const [path, operations] of Object.entries(description.paths))
    for (const [name, operation] of Object.entries(operations)) {
      const { operationId } = operation;
      for (const status of Object.keys(operation.responses)) {
        if (status < '400') continue;
        // These send no request that could fail. Where auth is called without the graph, its defects count as failures between services.
        if (WITHOUT_SERVICES.includes(operationId) && status >= '500') continue;
        if (['me', 'signInOperator'].includes(operationId) && status === '429') continue;
        if (['startSignIn', 'finishSignIn'].includes(operationId) && status === '500') continue;
        const method = name.toUpperCase();
        const response = await provoke(status, method, path, operation);
        failure = undefined;
        promised.push(`${operationId} ${status}`);
        given.push(`${operationId} ${response.status}`);
        if (status !== String(response.status)) continue;
        if (status === '429') expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(6);
        if (status === '503') expect(response.headers.get('retry-after')).toBe('1');
        const { error, message } = response.json;
        const requestId = status >= '500' ? response.headers.get('x-request-id') : undefined;
        if (typeof error === 'object') expect(error.requestId).toBe(requestId);
        if (status === '500') expect(message).toMatch(/^Internal server error\.?$/);
        if (isOfOperators(operation)) expect(response.headers.get('cache-control')).toBe('no-store');
        expect(response.text).not.toContain(SECRET);
      }
    }
  expect(given).toEqual(promised);
  expect(promised.length).toBeGreaterThan(220);
});

const WITHOUT_SERVICES = ['me', 'checkOperator', 'readStatus', 'signInOperator'];

it('requires a token wherever it documents that one may be missing', () => {
  const operations = Object.values(description.paths).flatMap((each) => Object.values(each));
  const open = operations.filter(({ security }) => security.length === 0).map(({ operationId }) => operationId);
  expect(open.toSorted()).toEqual([
    ...['finishSignIn', 'forgotPassword', 'login', 'refresh', 'resetPassword', 'signInOperator', 'signInProvider'],
    ...['signInWithCode', 'signUp', 'startSignIn'],
  ]);
});

describe('the export of an account', () => {
  afterEach(() => {
    broken = held = undefined;
  });

  const read = async (user = USER, sid = user) =>
    fetch(`${gateway.origin}/api/auth/export`, {
      headers: { authorization: `Bearer ${await gateway.auth.token(user, { claims: { sid } })}` },
    });

  it('reads no further pages while its client does not read', async () => {
    let pages = 0;
    const edges = [{ node: { ...TASK, title: 'x'.repeat(2 ** 20) } }];
    const { tasks } = EXPORTED;
    EXPORTED['tasks'] = () => ({ tasks: { edges, pageInfo: { hasNextPage: ++pages < 32, endCursor: `${pages}` } } });
    const response = await read();
    await eventually(() => expect(pages).toBeGreaterThan(0));
    let before = -1;
    await eventually(() => expect([before, (before = pages)]).toEqual([pages, pages]), { everyMs: 200 });

    expect(pages).toBeLessThan(16);
    const { audit, tasks: exported } = (await response.json()) as { audit: { id: string }[]; tasks: unknown[] };
    expect([audit.map(({ id }) => Number(id)), exported.length]).toEqual([IDS, 32]);
    EXPORTED['tasks'] = tasks as (typeof EXPORTED)['tasks'];
  });

  it('runs at most twice at once for an account', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    held = promise;
    const running = await Promise.all([read(), read()]);
    const refused = await read();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    const ofAnother = await read('0199e1c2-5b7a-7cc3-98c4-dc0c0c073990');
    expect(ofAnother.status).toBe(200);
    release();
    for (const each of [...running, ofAnother]) expect(await each.json()).toMatchObject({ tasks: [] });
    await eventually(async () => expect(await (await read()).json()).toMatchObject({ tasks: [] }));
  });

  it('breaks off when its session ends', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    held = promise;
    const torn = await read(USER, ID);
    gateway.auth.end(ID);
    const headers = { authorization: `Bearer ${await gateway.auth.token(USER, { claims: { sid: ID } })}` };
    await eventually(async () => expect((await call('GET', '/api/auth/me', { headers })).status).toBe(401));
    release();
    await expect(torn.text()).rejects.toThrow();
  });

  it('is a 503 if its first part cannot be read, and is aborted if a later part cannot', async () => {
    broken = 'me';
    expect((await read()).status).toBe(503);
    broken = 'tasks';
    const torn = await read();
    expect(torn.status).toBe(200);
    await expect(torn.text()).rejects.toThrow();
  });
});
