import { newPersonalToken } from '@taskmesh/identity';
import { createMemoryKeyValue } from '@taskmesh/key-value';
import { startTestGateway, useGateway, USER } from './fakes/gateway.ts';
import { guess } from './fakes/rest.ts';

const TOKEN = 'the-token-of-operators';
const ENV = { BACKUP_TOKEN: TOKEN, TRUSTED_PROXIES: '127.0.0.1' };
const STATUS = '/api/operations/status';
const BACKUPS = '{ backups { file } }';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const at = (ip: string) => ({ 'x-forwarded-for': ip });
const ELSEWHERE = at('198.51.100.2');
const statusAt = async ({ origin }: { origin: string }, headers: Record<string, string>, path = STATUS) =>
  (await fetch(`${origin}${path}`, { headers })).status;
const counts = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]));

describe('wrong tokens of operators', () => {
  /** A caller for each test. */
  let here: Record<string, string>;
  let callers = 0;
  const gateway = useGateway({ env: ENV });
  beforeEach(() => void (here = at(`203.0.113.${++callers}`)));

  const statusOf = (headers: Record<string, string>, path?: string) => statusAt(gateway, headers, path);

  it('are limited to ten per caller; then even the right one is refused for that caller for a while', async () => {
    expect(await guess(gateway.origin, 10, { headers: here })).toEqual(Array.from({ length: 10 }, () => 401));
    for (const token of [TOKEN, 'wrong-11', 'wrong-1']) {
      const refused = await fetch(`${gateway.origin}${STATUS}`, { headers: { ...here, ...bearer(token) } });
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(800);
      expect(await refused.json()).toMatchObject({ success: false, error: { code: 'RATE_LIMITED' } });
    }
    expect(await statusOf({ ...here, ...bearer(TOKEN) }, '/api/backups')).toBe(429);
    expect(await statusOf({ ...ELSEWHERE, ...bearer(TOKEN) })).toBe(200);
    expect(await statusOf({ ...ELSEWHERE, ...bearer('wrong') })).toBe(401);
    expect(await statusOf(here)).toBe(401); // without a token, nothing is guessed
  });

  it('stay limited when many are sent at once, including the right one', async () => {
    const rightOne = new Promise(setImmediate).then(() => statusOf({ ...here, ...bearer(TOKEN) }));
    const [statuses, right] = await Promise.all([guess(gateway.origin, 50, { headers: here }), rightOne]);
    expect([...statuses, right].filter((status) => status !== 429)).toHaveLength(10);
    expect(await statusOf({ ...here, ...bearer(TOKEN) })).toBe(429);
  });

  it('count over GraphQL as over REST; there the right one no longer identifies an operator, and others are not affected', async () => {
    const codes = async (token: string, headers = here) => {
      const { status, body } = await gateway.graphql(BACKUPS, { headers: { ...headers, ...bearer(token) } });
      return [status, body.errors?.[0]?.extensions['code']];
    };
    expect(await codes(TOKEN)).toEqual([200, undefined]);
    for (let tries = 0; tries < 6; tries++) expect(await codes(`wrong-${tries}`)).toEqual([200, 'UNAUTHENTICATED']);
    expect(counts(await guess(gateway.origin, 20, { headers: here }))).toEqual({ 401: 9, 429: 11 });
    for (const token of [TOKEN, 'wrong']) expect(await codes(token)).toEqual([200, 'UNAUTHENTICATED']);
    expect(await codes(TOKEN, ELSEWHERE)).toEqual([200, undefined]);
    const me = await gateway.graphql('{ me { id } }', { token: await gateway.auth.token(USER), headers: here });
    expect(me.body).toEqual({ data: { me: { id: USER } } });
  });

  it('lock no one out when a program keeps sending the same outdated one', async () => {
    for (let tries = 0; tries < 12; tries++) expect(await statusOf({ ...here, ...bearer('outdated') })).toBe(401);
    expect(await statusOf({ ...here, ...bearer(TOKEN) })).toBe(200);
  });

  it('do not include the tokens of users, valid or not', async () => {
    const userTokens = [
      await gateway.auth.token(USER),
      ...Array.from({ length: 12 }, () => newPersonalToken()),
      ...Array.from({ length: 12 }, (_, index) => `eyJhbGciOiJFUzI1NiJ9.payload${index}.signature`),
    ];
    for (const token of userTokens) {
      expect(await statusOf({ ...here, ...bearer(token) })).toBe(401);
      expect((await gateway.graphql(BACKUPS, { headers: { ...here, ...bearer(token) } })).status).toBe(200);
    }
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearer', TOKEN])
      for (let tries = 0; tries < 5; tries++) expect(await statusOf({ ...here, authorization })).toBe(401);
    expect(await statusOf({ ...here, ...bearer(TOKEN) })).toBe(200);
  });
});

it('wrong tokens count across all gateways that share a store, and for a whole IPv6 site', async () => {
  const keyValue = createMemoryKeyValue();
  const gateway = await startTestGateway({ env: ENV, keyValue });
  const other = await startTestGateway({ env: ENV, keyValue, beside: gateway });
  expect(counts(await guess(gateway.origin, 5, { headers: at('2001:db8::1') }))).toEqual({ 401: 5 });
  // The same five tokens are not new guesses.
  expect(counts(await guess(other.origin, 5, { headers: at('2001:db8::2') }))).toEqual({ 401: 5 });
  expect(await guess(other.origin, 20, { headers: at('2001:db8::2') })).toContain(429);
  for (const each of [gateway, other]) {
    const statusFrom = (ip: string) => statusAt(each, { ...at(ip), ...bearer(TOKEN) });
    for (const ip of ['2001:db8::3', '2001:db8:0:ffff::1']) expect(await statusFrom(ip)).toBe(429);
    expect(await statusFrom('2001:db8:1::3')).toBe(200);
  }
});

it('wrong tokens of this machine count from our own page; programs here, and pages of other sites, neither count nor are locked out', async () => {
  const token = 'y'.repeat(40);
  const { origin } = await startTestGateway({ machineToken: token });
  const post = async (headers: Record<string, string>) =>
    (await fetch(`${origin}/api/operations/check`, { method: 'POST', headers })).status;
  for (let tries = 0; tries < 12; tries++) {
    expect(await post({ origin: 'https://evil.example', ...bearer(`wrong-${tries}`) })).toBe(403);
    expect(await post(bearer(`wrong-${tries}`))).toBe(200);
  }
  expect(await post({ origin, ...bearer(token) })).toBe(200);
  for (let tries = 1; tries < 10; tries++) expect(await post({ origin, ...bearer(`wrong-${tries}`) })).toBe(401);
  expect(await post({ origin, ...bearer(token) })).toBe(429);
  expect(await post({})).toBe(200);
});

it("guesses of an operator token with the form of a user's are counted, but users' tokens over GraphQL are not", async () => {
  const here = at('203.0.113.1');
  const token = `eyJhbGciOiJub25lIn0.${'a'.repeat(20)}.b`;
  const gateway = await startTestGateway({ env: { ...ENV, BACKUP_TOKEN: token } });
  const statusOf = (given: string) => statusAt(gateway, { ...here, ...bearer(given) });
  expect(await statusOf(token)).toBe(200);
  expect((await gateway.graphql(BACKUPS, { token })).body.errors).toBeUndefined();
  for (let tries = 0; tries < 12; tries++)
    expect((await gateway.graphql(BACKUPS, { token: `eyJ.of-user.${tries}`, headers: here })).status).toBe(200);
  expect(await statusOf(token)).toBe(200);
  for (let tries = 1; tries < 10; tries++) expect(await statusOf(`${token}${tries}`)).toBe(401);
  expect(await statusOf(token)).toBe(429);
});
