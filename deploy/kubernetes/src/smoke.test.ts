import { listen } from '@taskmesh/testing';
import { createServer } from 'node:http';
import { smoke } from './smoke.ts';

let status = 200;
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.writeHead(status).end();
});
const { url } = await listen(server);

it.each([
  { side: 'public' as const, good: 200, bad: 503, request: 'GET /readyz' },
  { side: 'inner' as const, good: 401, bad: 200, request: 'POST /graphql' },
])(
  'a test of a release sends a request to the $side side, and accepts only the expected status',
  async ({ side, good, bad, request }) => {
    status = good;
    await smoke(side, url);
    expect(asked.at(-1)).toBe(request);
    status = bad;
    await expect(smoke(side, url)).rejects.toThrow(`answers ${bad} instead of ${good}`);
  },
);
