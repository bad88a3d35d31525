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
  ['public', 200, 503, 'GET /readyz'],
  ['inner', 401, 200, 'POST /graphql'],
] as const)(
  'a test of a release requests the %s side, and accepts only %d, not %d',
  async (side, good, bad, request) => {
    status = good;
    await smoke(side, url);
    expect(asked.at(-1)).toBe(request);
    status = bad;
    await expect(smoke(side, url)).rejects.toThrow(`responded with ${bad} instead of ${good}`);
  },
);
