import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { smoke } from './smoke.ts';

let status = 200;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.writeHead(status).end();
});

beforeAll(async () => void (await once(server.listen(0, '127.0.0.1'), 'listening')));
afterAll(() => void server.close());

it.each([
  { side: 'public' as const, good: 200, bad: 503, request: 'GET /readyz' },
  { side: 'inner' as const, good: 401, bad: 200, request: 'POST /graphql' },
])(
  'a test of a release sends a request to the $side side, and accepts only the expected status',
  async ({ side, good, bad, request }) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    status = good;
    await smoke(side, url);
    expect(asked.at(-1)).toBe(request);
    status = bad;
    await expect(smoke(side, url)).rejects.toThrow(`answers ${bad} instead of ${good}`);
  },
);
