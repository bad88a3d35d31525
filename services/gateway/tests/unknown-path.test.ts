import { request } from 'undici';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';

const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
/** What browsers send when somebody opens an address: of a host that they trust, and of any other one. */
const NAVIGATIONS: Record<string, string>[] = [
  { accept: ACCEPT, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', 'upgrade-insecure-requests': '1' },
  { accept: ACCEPT, 'sec-fetch-mode': 'navigate' },
  { accept: ACCEPT, 'upgrade-insecure-requests': '1' },
];
const VARY = 'Origin, Accept, Sec-Fetch-Mode, Upgrade-Insecure-Requests';
const JSON_TYPE = 'application/json; charset=utf-8';
const NOTHING = { message: 'There is nothing at this path.', error: { code: 'NOT_FOUND' } };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

async function open(path: string, headers: Record<string, string>, method: 'GET' | 'HEAD' | 'POST' = 'GET') {
  const { statusCode, headers: received, body } = await request(gateway.origin + path, { method, headers });
  return { status: statusCode, headers: received, type: received['content-type'], text: await body.text() };
}

describe.each(NAVIGATIONS)('a browser in which somebody opens an address (%j)', (headers) => {
  it.each(['/taks', '/reset-pasword', '/graphql/x', '/%', '/apiary', '/api%', '/full', '/tasks?next=/api/tasks'])(
    'gets a page at %s, where nothing is',
    async (path) => {
      const { status, type, text, headers: received } = await open(path, headers);
      expect([status, type]).toEqual([404, 'text/html; charset=utf-8']);
      expect(text).toContain('<h1>There is nothing at this address</h1>');
      expect(text).toContain('<a href="/">');
      expect(received['vary']).toBe(VARY);
      expect(received['x-request-id']).toEqual(expect.any(String));
    },
  );

  it.each(['/api', '/api/taks', '/api?x', '/full/api/taks', '/reduced/api', '/api/tasks/%'])(
    'gets JSON at %s, which is the API’s',
    async (path) => {
      const { status, type, text, headers: received } = await open(path, headers);
      expect([status, type, JSON.parse(text)]).toEqual([404, JSON_TYPE, NOTHING]);
      expect(received['vary']).toBe('Origin');
    },
  );
});

it('a browser gets a page that repeats nothing of the address', async () => {
  const { text } = await open('/%3Cb%3Enothing%3C/b%3E', NAVIGATIONS[0] ?? {});
  expect(text).not.toMatch(/nothing<|%3C/);
  const [file = ''] = /\/unknown-path\/assets\/[\w-]+\/look\.css/.exec(text) ?? [];
  expect((await open(file, {})).status).toBe(200);
});

it('HEAD is answered as GET is, without the page', async () => {
  const { status, type, text } = await open('/taks', NAVIGATIONS[0] ?? {}, 'HEAD');
  expect([status, type, text]).toEqual([404, 'text/html; charset=utf-8', '']);
});

it.each<Record<string, string>>([
  {},
  { accept: '*/*' },
  { accept: 'application/json' },
  { accept: 'text/html' },
  { accept: ACCEPT, 'sec-fetch-mode': 'cors' },
  { accept: '*/*', 'sec-fetch-mode': 'navigate' },
])('a program gets JSON at an address where nothing is: %j', async (headers) => {
  const { status, type, text, headers: received } = await open('/taks', headers);
  expect([status, type, JSON.parse(text)]).toEqual([404, JSON_TYPE, NOTHING]);
  expect(received['vary']).toBe(VARY);
});

it('a form that a page sends to such an address gets JSON', async () => {
  const { status, type, headers } = await open('/taks', NAVIGATIONS[0] ?? {}, 'POST');
  expect([status, type, headers['vary']]).toEqual([404, JSON_TYPE, 'Origin']);
});
