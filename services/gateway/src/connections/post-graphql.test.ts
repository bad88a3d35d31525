import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServicePool, type ServicePool } from '@taskmesh/internal-api';
import { postGraphQL, type GraphQLPost } from './requests.ts';

let server: Server;
let pool: ServicePool;
let requests = 0;
let handle: RequestListener = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    requests += 1;
    handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  pool = createServicePool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`); // always an AddressInfo for TCP
});
beforeEach(() => {
  requests = 0;
});
afterAll(async () => {
  await pool.destroy();
  server.closeAllConnections();
  server.close();
});

const post = (changes: Partial<GraphQLPost> = {}) =>
  postGraphQL(pool, {
    path: '/graphql',
    headers: {},
    request: { query: '{ a }' },
    isOurs: true,
    idempotent: true,
    timeoutMs: 10_000,
    ...changes,
  });

const answerWith =
  (text: string, status = 200): RequestListener =>
  (request, response) => {
    request.resume();
    response.writeHead(status).end(text);
  };

const UNAVAILABLE = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 };

describe('a request to a service', () => {
  it('returns its answer, in however many pieces it comes', async () => {
    handle = (request, response) => {
      request.resume();
      response.write('{"data":{"a":"\u00e4');
      setImmediate(() => response.end('\u00f6"}}'));
    };
    expect(await post()).toEqual({ data: { a: '\u00e4\u00f6' } });
  });

  it('returns an answer behind a byte order mark', async () => {
    handle = answerWith('\uFEFF{"data":{"a":1}}');
    expect(await post()).toEqual({ data: { a: 1 } });
  });

  it.each([
    ['no JSON', answerWith('<html>')],
    ['no result', answerWith('{"message":"hello"}')],
    ['data that are a list', answerWith('{"data":[]}')],
    ['errors that are no list', answerWith('{"data":null,"errors":{"message":"x"}}')],
    ['an error that is none', answerWith('{"data":null,"errors":[null]}')],
    ['an error at a place that is none', answerWith('{"data":null,"errors":[{"message":"x","path":"a"}]}')],
    ['an error below an object', answerWith('{"data":null,"errors":[{"message":"x","path":[{}]}]}')],
    ['another status', answerWith('{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}]}', 401)],
    [
      'a redirect',
      ((_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()) as RequestListener,
    ],
    [
      'half an answer',
      ((_request, response) => {
        response.writeHead(200, { 'content-length': '100' }).write('{"data":');
        setImmediate(() => response.destroy());
      }) as RequestListener,
    ],
  ])('that answers with %s is unavailable', async (_name, handler) => {
    handle = handler;
    await expect(post()).rejects.toMatchObject(UNAVAILABLE);
    expect(requests).toBe(1);
  });

  it("takes a result whose errors, or whose errors' places, are null", async () => {
    for (const text of ['{"data":{"a":1},"errors":null}', '{"data":null,"errors":[{"message":"x","path":null}]}']) {
      handle = answerWith(text);
      expect(await post()).toEqual(JSON.parse(text));
    }
  });

  it('takes errors with other statuses from services that are not ours', async () => {
    handle = answerWith('{"errors":[{"message":"x"}]}', 400);
    expect(await post({ isOurs: false })).toEqual({ errors: [{ message: 'x' }] });
  });

  it('is sent again once when the connection broke, if it only reads', async () => {
    handle = (request, response) =>
      requests === 1 ? request.socket.destroy() : answerWith('{"data":{}}')(request, response);
    expect(await post()).toEqual({ data: {} });
    expect(requests).toBe(2);
  });

  it('is never sent again when it changes something', async () => {
    handle = (request) => request.socket.destroy();
    await expect(post({ idempotent: false })).rejects.toMatchObject(UNAVAILABLE);
    expect(requests).toBe(1);
  });
});
