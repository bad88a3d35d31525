import { listen } from '@taskmesh/testing';
import { createServer } from 'node:http';
import { createSecret, makeKeys } from './create-secret.ts';

let answers: number[] = [];
let requests: {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  body: string;
}[];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => (body += chunk));
  request.on('end', () => {
    const { method, url, headers } = request;
    requests.push({ method, url, authorization: headers.authorization, body });
    response.writeHead(answers.shift() ?? 500).end('{}');
  });
});
const { url } = await listen(server);

beforeEach(() => void (requests = []));

const secret = { name: 'keys', namespace: 'shop', data: { token: 'hidden' } };
const make = () => createSecret({ url, token: 'me' }, secret);

describe('the secret of an installation', () => {
  it('is created with one request', async () => {
    answers = [201];
    expect(await make()).toBe(true);
    expect(requests).toEqual([
      { method: 'POST', url: '/api/v1/namespaces/shop/secrets', authorization: 'Bearer me', body: expect.any(String) },
    ]);
    expect(JSON.parse(requests[0]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'Opaque',
      metadata: { name: 'keys', namespace: 'shop' },
      stringData: { token: 'hidden' },
    });
  });

  it('is left unchanged when it exists', async () => {
    answers = [409];
    expect(await make()).toBe(false);
    expect(requests.map(({ method }) => method)).toEqual(['POST']);
  });

  it('is tried again while the API server is unavailable', async () => {
    answers = [503, 201];
    expect(await make()).toBe(true);
  });

  it('is not created if the API server refuses: the reason is reported without its values', async () => {
    answers = [403];
    await expect(make()).rejects.toThrow('The API server does not take the secret keys: it responded with 403.');
    expect(requests).toHaveLength(1);
  });
});

it('creates matching keys: the public keys are those of the signers', async () => {
  const keys = await makeKeys();
  const kidOf = (name: string) => JSON.parse(keys[name] ?? '').kid;
  const shown = JSON.parse(keys['identity-public.json'] ?? '').keys as { kid: string; d?: string }[];
  expect(shown.map(({ kid }) => kid)).toEqual([
    kidOf('gateway-identity.json'),
    kidOf('backup-identity.json'),
    kidOf('tasks-identity.json'),
  ]);
  expect(shown.every(({ d }) => d === undefined)).toBe(true);
  expect(JSON.parse(keys['access-token-keys.json'] ?? '').keys[0].d).toBeDefined();
  expect(keys['backup-token']).toMatch(/^[\w-]{43}$/);
});
