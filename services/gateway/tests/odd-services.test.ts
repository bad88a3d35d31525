import type { ServerResponse } from 'node:http';
import { composed, startForeignService, startServer, type ForeignService } from './fakes/foreign-service.ts';
import { fetchGraphQL, useGateway } from './fakes/gateway.ts';

const ODD = `
  scalar Any
  type Query { odd: Int strict: Int! any: Any things: [Thing] }
  type Thing { id: ID! }
  type Mutation { oddly: Int strictly: Int! }
`;
const PLAIN = `
  type Query { plain: Int }
  type Mutation { plainly: Int }
`;
/** The query with which the gateway probes a service. */
const PROBE = '"{ __typename }"';
type Respond = (response: ServerResponse) => void;

const sends =
  (body: string | Buffer, status = 200): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);

/** Sends the first half of a response, then resets the connection. */
const breaksOff: Respond = (response) => {
  response.writeHead(200, { 'content-length': '20' }).write('{"data":{');
  setImmediate(() => response.socket?.resetAndDestroy());
};

/** Sends one byte in each chunk. */
const slowly =
  (body: string): Respond =>
  (response) => {
    const bytes = [...Buffer.from(body)];
    const next = () => {
      const byte = bytes.shift();
      if (byte === undefined) return void response.end();
      response.write(Buffer.of(byte));
      setImmediate(next);
    };
    next();
  };

describe('a service of a foreign graph with odd responses', () => {
  let odd: Awaited<ReturnType<typeof startServer>>;
  let respond: Respond;
  let requests: number;
  let plain: ForeignService;
  let plainly: number;
  const gateway = useGateway(async () => {
    odd = await startServer((body, response) => {
      if (body.includes(PROBE)) return sends('{"data":{"__typename":"Query"}}')(response);
      requests++;
      respond(response);
    });
    plain = await startForeignService(PLAIN, { Query: { plain: () => 1 }, Mutation: { plainly: () => ++plainly } });
    const supergraph = composed([
      { name: 'odd', url: odd.url, typeDefs: ODD },
      { name: 'plain', url: plain.url, typeDefs: PLAIN },
    ]);
    return { files: { SUPERGRAPH_FILE: supergraph } };
  });
  beforeEach(() => {
    [requests, plainly] = [0, 0];
  });

  it.each<[string, Respond]>([
    ['behind a byte order mark', sends('\uFEFF{"data":{"odd":3}}')],
    ['one byte at a time', slowly('{"data":{"odd":3},"extensions":{"x":"ünï"}}')],
    ['with more than was requested', sends('{"data":{"odd":3,"__proto__":{"strict":1},"other":[]},"more":1}')],
    ['with bytes that are not text', sends(Buffer.from('{"data":{"odd":3,"x":"\xff\xc3"}}', 'latin1'))],
    ['with another status', sends('{"data":{"odd":3}}', 207)],
    [
      'the second time, after the connection broke',
      (response) => (requests === 1 ? response.socket?.destroy() : sends('{"data":{"odd":3}}')(response)),
    ],
  ])('is understood when it responds %s', async (_how, behaviour) => {
    respond = behaviour;
    expect((await gateway.graphql('{ odd plain }')).body).toEqual({ data: { odd: 3, plain: 1 } });
  });

  it.each<[string, Respond]>([
    ['errors alone', sends('{"errors":[{"message":"no"}]}')],
    ['another text', sends('<html>Bad gateway</html>', 502)],
    ['a list of data', sends('{"data":[]}')],
    ['errors that are not a list', sends('{"data":null,"errors":{"message":"x"}}')],
    ['an error with an invalid path', sends('{"data":null,"errors":[{"message":"x","path":[{}]}]}')],
    ['an error with too long a path', sends(`{"data":{"odd":3},"errors":[{"path":[${'0,'.repeat(100)}0]}]}`)],
    ['a redirect', (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['more than 8 MiB', sends(`{"data":{"odd":3},"x":"${'x'.repeat(8 * 2 ** 20)}"}`)],
    ['a closed connection', (response) => response.socket?.destroy()],
  ])('causes an error with %s, without affecting the data of others', async (_what, behaviour) => {
    respond = behaviour;
    const { body } = await gateway.graphql('{ odd plain }');
    expect(body.data).toEqual({ odd: null, plain: 1 });
    expect(body.errors).toHaveLength(1);
    expect((await gateway.graphql('{ strict plain }')).body.data).toBeNull();
  });

  it.each([
    ['no values of other types', { issues: [{ path: 'a' }], retryAfterSeconds: { a: 'x' } }, {}],
    ['no more than 100 issues', { issues: Array(101).fill({ path: 'a', message: 'b' }), retryAfterSeconds: 1e9 }, {}],
    [
      'short texts',
      { issues: [{ path: 'a', message: 'x'.repeat(5_000), more: 1 }], retryAfterSeconds: 7, debug: 'inner' },
      { issues: [{ path: 'a', message: 'x'.repeat(1_000) }], retryAfterSeconds: 7 },
    ],
  ])('may show %s in the extensions of an error', async (_what, extensions, shown) => {
    const error = { message: 'y'.repeat(5_000), path: ['odd'], extensions: { code: 'RATE_LIMITED', ...extensions } };
    respond = sends(JSON.stringify({ data: { odd: null }, errors: [error] }));
    const { body } = await gateway.graphql('{ odd plain }');
    expect(body.errors).toEqual([
      { message: 'y'.repeat(1_000), path: ['odd'], extensions: { code: 'RATE_LIMITED', ...shown } },
    ]);
  });

  it.each<[string, Respond]>([
    ['with the first half of a response', breaksOff],
    ['by closing the connection', (response) => response.socket?.destroy()],
    ['with errors alone', sends('{"errors":[{"message":"no"}]}')],
  ])('never receives a mutation twice, and the next mutation runs: %s', async (_how, behaviour) => {
    respond = behaviour;
    const { body } = await gateway.graphql('mutation { oddly plainly again: plainly }');
    expect(body.data).toEqual({ oddly: null, plainly: 1, again: 2 });
    expect(body.errors).toHaveLength(1);
    expect(requests).toBe(1);
    const strict = await gateway.graphql('mutation { plainly strictly again: plainly }');
    expect(strict.body.data).toBeNull();
    expect([requests, plainly]).toEqual([2, 3]);
  });

  it('causes a 500 with the request id when it nests a scalar too deeply to be serialized', async () => {
    respond = sends(`{"data":{"any":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`);
    const { status, body } = await gateway.graphql('{ any }');
    expect(status).toBe(500);
    expect(body.errors?.[0]?.extensions).toEqual({ code: 'INTERNAL_SERVER_ERROR', requestId: expect.any(String) });
  });

  it('does not fill the gateway with endless responses: beyond 64 MiB in total, the largest is dropped', async () => {
    respond = (response) => void response.writeHead(200).write('x'.repeat(7.9 * 2 ** 20));
    const begun = performance.now();
    const all = Array.from({ length: 9 }, () => gateway.graphql('{ odd }'));
    const { body } = await Promise.race(all);
    expect(body.errors?.map(({ extensions }) => extensions['code'])).toEqual(['SERVICE_UNAVAILABLE']);
    expect(performance.now() - begun).toBeLessThan(9_000); // an operation has ten seconds
    respond = sends('{"data":{"odd":3}}'); // queries are sent again
    odd.hangUp();
    await Promise.all(all);
  });
});

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])';
const ITEMS = `${LINK}
  scalar Code
  input Range { from: Code, id: ID }
  type Item @key(fields: "code") { code: Code! id: ID! weight: Float any: Code }
  type Query { items: [Item!] find(codes: [Code!], range: Range, id: ID, weight: Float): Item }
`;
const STOCK = `${LINK}
  scalar Code
  type Item @key(fields: "code") { code: Code! stock: Code }
`;
const ONE = '9007199254740992';
const OTHER = '9007199254740993';
const item = (code: string) =>
  `{"__typename":"Item","code":${code},"id":${code},"weight":${code},"any":{"list":[-${code},1.5,"${code}"]}}`;

describe('integers beyond 2^53 of a foreign graph', () => {
  const bodies: string[] = [];
  const gateway = useGateway(async () => {
    // The texts are literal, so that nothing rounds here.
    const { url } = await startServer((body, response) => {
      bodies.push(body);
      const stock = [...body.matchAll(/"code":(\d+)/g)].map(([, code]) => `{"__typename":"Item","stock":${code}}`);
      const items = body.includes('find') ? '"find":null' : `"items":[${item(ONE)},${item(OTHER)}]`;
      sends(`{"data":{${body.includes('_entities') ? `"_entities":[${stock.join()}]` : items}}}`)(response);
    });
    const services = Object.entries({ items: ITEMS, stock: STOCK });
    return { files: { SUPERGRAPH_FILE: composed(services.map(([name, typeDefs]) => ({ name, url, typeDefs }))) } };
  });

  const post = async (body: string) => (await (await fetchGraphQL(gateway.origin, body)).text()).trimEnd();

  it('are returned exactly, and two keys stay distinct', async () => {
    const text = await post('{"query":"{ items { code id weight any stock } }"}');
    const expected = [ONE, OTHER].map(
      (code) =>
        `{"code":${code},"id":"${code}","weight":${ONE},"any":{"list":[-${code},1.5,"${code}"]},"stock":${code}}`,
    );
    expect(text).toBe(`{"data":{"items":[${expected.join()}]}}`);
    expect(bodies.at(-1)).toContain(
      `"representations":[{"__typename":"Item","code":${ONE}},{"__typename":"Item","code":${OTHER}}]`,
    );
  });

  it('in variables reach the service by POST and by GET', async () => {
    const query =
      'query ($codes: [Code!], $range: Range, $id: ID, $weight: Float) { find(codes: $codes, range: $range, id: $id, weight: $weight) { code } }';
    const variables = `{"codes":[{"a":${OTHER}}],"range":{"from":${OTHER},"id":${OTHER}},"id":${OTHER},"weight":${OTHER}}`;
    const sent = `"variables":{"codes":[{"a":${OTHER}}],"range":{"from":${OTHER},"id":"${OTHER}"},"id":"${OTHER}","weight":${ONE}}`;
    bodies.length = 0;
    await post(`{"query":${JSON.stringify(query)},"variables":${variables}}`);
    await (await fetch(`${gateway.origin}/graphql?${new URLSearchParams({ query, variables })}`)).text();
    expect(bodies).toEqual([expect.stringContaining(sent), expect.stringContaining(sent)]);
  });
});
