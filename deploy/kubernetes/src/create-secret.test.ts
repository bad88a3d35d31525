import { listen } from '@taskmesh/testing';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { createSecret, makeKeys } from './create-secret.ts';

let answers: number[] = [];
let requests: object[];
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  requests.push({ method, url, authorization: headers.authorization, body: await json(request) });
  response.writeHead(answers.shift() ?? 500).end('{}');
}
const server = createServer((request, response) => void answer(request, response));
const { url } = await listen(server);

beforeEach(() => void (requests = []));

const secret = { name: 'keys', namespace: 'shop', data: { token: 'hidden' } };
const make = () => createSecret({ url, token: 'me' }, secret);

describe('the secret of an installation', () => {
  it('is created with one request', async () => {
    answers = [201];
    expect(await make()).toBe(true);
    const metadata = { name: 'keys', namespace: 'shop' };
    const body = { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, stringData: { token: 'hidden' } };
    const url = '/api/v1/namespaces/shop/secrets';
    expect(requests).toEqual([{ method: 'POST', url, authorization: 'Bearer me', body }]);
  });

  it.each<[string, number[], unknown]>([
    ['is left unchanged when it exists', [409], false],
    ['is tried again while the API server is unavailable', [503, 201], true],
    [
      'is not created if that refuses',
      [403],
      'Error: The API server did not accept the secret keys: it responded with 403.',
    ],
  ])('%s', async (_what, statuses, outcome) => {
    answers = [...statuses];
    expect(await make().catch(String)).toBe(outcome);
    expect(requests).toMatchObject(statuses.map(() => ({ method: 'POST' })));
  });
});

it('creates matching keys: the public keys are those of the signers', async () => {
  const keys = await makeKeys();
  const kidOf = (name: string) => JSON.parse(keys[`${name}-identity.json`] ?? '').kid;
  const shown = JSON.parse(keys['identity-public.json'] ?? '').keys as { kid: string; d?: string }[];
  expect(shown.map(({ kid }) => kid)).toEqual(['gateway', 'backup', 'tasks'].map(kidOf));
  expect(shown.every(({ d }) => d === undefined)).toBe(true);
  expect(JSON.parse(keys['access-token-keys.json'] ?? '').keys[0].d).toBeDefined();
  expect(keys['backup-token']).toMatch(/^[\w-]{43}$/);
});
