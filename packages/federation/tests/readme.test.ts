import { listen } from '@taskmesh/testing';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import {
  responseOf,
  NO_WORDS,
  PRODUCT,
  REVIEWED,
  reviewedEvent,
  schemas,
  seen,
  supergraph,
} from './products-and-reviews.ts';

/** Runs the README's examples in Node with the package as it would be installed. */
const root = join(import.meta.dirname, '..');
/** Not among the sources, which other tests read, but below the repository's dependencies. */
const cache = join(root, '../../.cache');
mkdirSync(cache, { recursive: true });
const project = mkdtempSync(join(cache, 'federation-example-'));
const [, gateway = '', subscriptions = '', events = '', documents = ''] = readFileSync(
  join(root, 'README.md'),
  'utf8',
).split('```js\n');
const sockets = new Map<string, WebSocketServer>();
const urls: Record<string, string> = {};
/** The services that were asked, and as whom. */
const asked = new Set<string>();
let running: ChildProcess | undefined;

beforeAll(async () => {
  for (const [name, schema] of schemas) {
    const server = createServer((request, response) => {
      asked.add(`${name}: ${request.headers.authorization}`);
      void json(request)
        .then((body) => body as { query: string; variables: Record<string, unknown> })
        .then(({ query, variables }) => responseOf(name, query, variables))
        .then((result) => response.end(JSON.stringify(result)));
    });
    const webSockets = new WebSocketServer({ server, path: '/graphql' });
    useServer({ schema }, webSockets);
    sockets.set(name, webSockets);
    urls[name] = `${(await listen(server)).url}/graphql`;
  }
  const installed = join(project, 'node_modules/@taskmesh/federation');
  mkdirSync(installed, { recursive: true });
  execFileSync(process.execPath, [join(root, '../../tools/build-package.ts'), 'federation', installed]);
  writeFileSync(join(project, 'supergraph.graphql'), supergraph);
});

afterEach(() => void running?.kill());

afterAll(() => rmSync(project, { recursive: true }));

/** Runs an example and returns what it prints. */
async function start(example: string): Promise<string> {
  const code = (example.split('```')[0] ?? '')
    .replace(/const urls = .*;/, `const urls = ${JSON.stringify(urls)};`)
    .replace(/port: 400\d/, 'port: 0')
    .replace('listen(4000', 'listen(0');
  writeFileSync(join(project, 'example.mjs'), code);
  const child = spawn(process.execPath, ['example.mjs'], { cwd: project, stdio: ['ignore', 'pipe', 'inherit'] });
  running = child;
  const [line] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return line;
}

const addressIn = (line: string) => /\w+:\/\/\S+/.exec(line)?.[0] ?? '';

async function post(url: string, query: string, variables: object | null = {}): Promise<object> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer ada' };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  return (await response.json()) as object;
}

it('the gateway of the README combines services, and passes on the context of requests', async () => {
  const url = addressIn(await start(gateway));
  asked.clear();
  expect(await post(url, PRODUCT, { id: '3' })).toEqual({
    data: { product: { name: 'Product 3', stars: 4, words: null } },
    errors: [expect.objectContaining({ ...NO_WORDS, extensions: expect.objectContaining({ serviceName: 'reviews' }) })],
  });
  expect(asked).toEqual(new Set(['products: Bearer ada', 'reviews: Bearer ada']));
  asked.clear();
  expect(await post(url, PRODUCT, { id: { not: 'an id' } })).toMatchObject({
    errors: [{ message: expect.stringMatching(/^Variable "\$id" got invalid value/) }],
  });
  expect(await post(url, '{ __type(name: "Product") { fields { name } } }')).toEqual({
    data: { __type: { fields: ['id', 'name', 'stars', 'words'].map((name) => ({ name })) } },
  });
  expect(asked.size).toBe(0);
});

it('the limits of the README refuse what is beyond them, and values that are wrong', async () => {
  const url = addressIn(await start(documents));
  const execute = (query: string, variables?: object | null) => post(url, query, variables);
  for (const id of ['3', '4'])
    expect(await execute(PRODUCT, { id })).toMatchObject({
      data: { product: { name: `Product ${id}`, stars: 4 } },
      errors: [NO_WORDS],
    });
  const aliases = Array.from({ length: 31 }, (_, at) => `a${at}: __typename`).join(' ');
  const refusals = [
    [`{ ${aliases} }`, {}, 'The operation has too many aliases.', 'GRAPHQL_VALIDATION_FAILED'],
    ['{ __schema { description } }', {}, 'Introspection is switched off here.', 'GRAPHQL_VALIDATION_FAILED'],
    [PRODUCT, { id: { secret: 1 } }, 'id must be of type ID.', 'BAD_USER_INPUT'],
  ] as const;
  for (const [query, variables, message, code] of refusals)
    expect(await execute(query, variables)).toMatchObject({ errors: [{ message, extensions: { code } }] });
  expect(await execute('{ __typename }', null)).toMatchObject({ data: { __typename: 'Query' } });
  expect(await execute(' '.repeat(256_000))).toEqual({ errors: [{ message: 'The request is too long.' }] });
});

it('the subscriptions of the README run', async () => {
  const client = createClient({ url: addressIn(await start(subscriptions)), webSocketImpl: WebSocket });
  const results: unknown[] = [];
  for await (const result of client.iterate({ query: REVIEWED, variables: { n: 3 } })) results.push(result);
  expect(results).toEqual([1, 2, 3].map(reviewedEvent));
  expect(seen.closed).toBe(1);
  const connected = once(sockets.get('reviews') as WebSocketServer, 'connection'); // made above
  const idle = client.iterate({ query: REVIEWED, variables: { n: -1 } });
  await idle.next();
  const [upstream] = (await connected) as [WebSocket];
  const left = once(upstream, 'close');
  await idle.return?.();
  await left;
  for await (const result of client.iterate({ query: PRODUCT, variables: { id: '3' } }))
    expect(result).toEqual({ errors: [{ message: 'Only subscriptions are served here.' }] });
  await client.dispose();
});

it('the events of the README become results', async () => {
  expect(JSON.parse(await start(events))).toEqual({
    data: { reviewed: { words: 'Sturdy.', product: { stars: 4, name: 'Product 1' } } },
    errors: [],
    incomplete: [],
  });
});
