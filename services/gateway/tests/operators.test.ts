import { request } from 'undici';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const QUERY = '{ backups { file } }';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Every way to request what only operators may have, as a program on this machine would. */
const ways: Record<string, (headers: Record<string, string>) => ReturnType<typeof request>> = {
  'REST, GET': (headers) => request(`${gateway.origin}/api/backups`, { headers }),
  'REST, POST': (headers) => request(`${gateway.origin}/api/backups`, { method: 'POST', headers }),
  'GraphQL, GET': (headers) =>
    request(`${gateway.origin}/graphql?query=${encodeURIComponent(QUERY)}`, { headers: { ...JSON_TYPE, ...headers } }),
  'GraphQL, POST': (headers) =>
    request(`${gateway.origin}/graphql`, {
      method: 'POST',
      headers: { ...JSON_TYPE, ...headers },
      body: JSON.stringify({ query: QUERY }),
    }),
};

describe('without a backup token', () => {
  describe.each(Object.entries(ways))('%s', (_way, ask) => {
    const codeOf = async (headers: Record<string, string>): Promise<unknown> => {
      const { body } = await ask(headers);
      // eslint-disable-next-line @typescript-eslint/no-explicit-any -- either kind of answer
      const json = (await body.json()) as any;
      return json.errors?.[0]?.extensions.code ?? (json.success === false ? 'REFUSED' : undefined);
    };

    it('is for programs on this machine', async () => {
      expect(await codeOf({})).toBeUndefined();
      expect(await codeOf({ host: 'localhost:4000' })).toBeUndefined();
    });

    it.each<Record<string, string>>([
      { host: 'evil.example' },
      { host: 'evil.example:4000' },
      { 'sec-fetch-site': 'cross-site' },
    ])('is not for pages of others: %j', async (headers) => {
      expect(await codeOf({ 'apollo-require-preflight': '1', ...headers })).toMatch(/^(REFUSED|UNAUTHENTICATED)$/);
    });
  });
});
