import { composed, startServer } from './fakes/foreign-service.ts';
import { fetchGraphQL, useGateway } from './fakes/gateway.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])';
const ITEMS = `${LINK}
  scalar Code
  input Range { from: Code, name: String, id: ID }
  type Item @key(fields: "code") { code: Code! id: ID! weight: Float any: Code }
  type Query { items: [Item!] find(code: Code, codes: [Code!], range: Range, id: ID, weight: Float): Item }
`;
const STOCK = `${LINK}
  scalar Code
  type Item @key(fields: "code") { code: Code! stock: Code }
`;
const ONE = '9007199254740992';
const OTHER = '9007199254740993';

/** A service that sends literal texts, so that it does not round. */
async function startTextService(respond: (body: string) => string) {
  const bodies: string[] = [];
  const server = await startServer((body, response) => {
    bodies.push(body);
    response.setHeader('content-type', 'application/json').end(respond(body));
  });
  return { ...server, bodies };
}

type TextService = Awaited<ReturnType<typeof startTextService>>;

const item = (code: string) =>
  `{"__typename":"Item","code":${code},"id":${code},"weight":${code},"any":{"list":[-${code},1.5,"${code}"]}}`;

describe('integers beyond 2^53 of a foreign graph', () => {
  let items: TextService;
  let stock: TextService;
  const gateway = useGateway(async () => {
    items = await startTextService((body) =>
      body.includes('find') ? '{"data":{"find":null}}' : `{"data":{"items":[${item(ONE)},${item(OTHER)}]}}`,
    );
    stock = await startTextService((body) => {
      const codes = [...body.matchAll(/"code":(\d+)/g)].map(([, code]) => code);
      return `{"data":{"_entities":[${codes.map((code) => `{"__typename":"Item","stock":${code}}`).join(',')}]}}`;
    });
    const supergraph = composed([
      { name: 'items', url: items.url, typeDefs: ITEMS },
      { name: 'stock', url: stock.url, typeDefs: STOCK },
    ]);
    return { files: { SUPERGRAPH_FILE: supergraph } };
  });

  const post = async (body: string) => (await (await fetchGraphQL(gateway.origin, body)).text()).trimEnd();

  it('are returned exactly, and two keys stay distinct', async () => {
    const text = await post('{"query":"{ items { code id weight any stock } }"}');
    const expected = [ONE, OTHER].map(
      (code) =>
        `{"code":${code},"id":"${code}","weight":9007199254740992,"any":{"list":[-${code},1.5,"${code}"]},"stock":${code}}`,
    );
    expect(text).toBe(`{"data":{"items":[${expected.join(',')}]}}`);
    expect(stock.bodies.at(-1)).toContain(
      `"representations":[{"__typename":"Item","code":${ONE}},{"__typename":"Item","code":${OTHER}}]`,
    );
  });

  const QUERY =
    'query ($code: Code, $codes: [Code!], $range: Range, $id: ID, $weight: Float) { find(code: $code, codes: $codes, range: $range, id: $id, weight: $weight) { code } }';
  const VARIABLES = `{"code":${OTHER},"codes":[{"a":${OTHER}}],"range":{"from":${OTHER},"id":${OTHER}},"id":${OTHER},"weight":${OTHER}}`;
  const SENT = `{"code":${OTHER},"codes":[{"a":${OTHER}}],"range":{"from":${OTHER},"id":"${OTHER}"},"id":"${OTHER}","weight":${ONE}}`;

  it('in variables reach the service by POST and by GET', async () => {
    items.bodies.length = 0;
    await post(`{"query":${JSON.stringify(QUERY)},"variables":${VARIABLES}}`);
    expect(items.bodies.at(-1)).toContain(`"variables":${SENT}`);
    const search = new URLSearchParams({ query: QUERY, variables: VARIABLES });
    await (await fetch(`${gateway.origin}/graphql?${search.toString()}`)).text();
    expect(items.bodies).toHaveLength(2);
    expect(items.bodies.at(-1)).toContain(`"variables":${SENT}`);
  });

  it('in literals and defaults reach the service', async () => {
    await post(`{"query":"query ($code: Code = [${OTHER}]) { find(code: $code, codes: [{ a: ${OTHER} }]) { code } }"}`);
    expect(items.bodies.at(-1)).toContain(`"variables":{"code":[${OTHER}]}`);
    expect(items.bodies.at(-1)).toContain(`a: ${OTHER}`);
  });

  it('are refused if the type cannot hold them, without repeating the value', async () => {
    for (const name of ['variables', 'range.name']) {
      const variables = name === 'variables' ? OTHER : `{"range":{"name":${OTHER}}}`;
      const text = await post(`{"query":${JSON.stringify(QUERY)},"variables":${variables}}`);
      expect(text).toContain('BAD_USER_INPUT');
      expect(text).toContain(name);
      expect(text).not.toContain('90071992');
    }
  });
});
