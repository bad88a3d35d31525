import { createLog } from '@taskmesh/service';
import { collectGarbage, eventually, makeTempDir } from '@taskmesh/testing';
import { GraphQLSchema, print, visit, type DocumentNode } from 'graphql';
import { readFileSync } from 'node:fs';
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { createLiveGraph, type Graph, watchSupergraph } from '../src/supergraph/live-graph.ts';
import { upTo } from './fakes/change-store.ts';
import { composed, startForeignService } from './fakes/foreign-service.ts';
import { startTestGateway, USER } from './fakes/gateway.ts';
import { GRAPHQL_PROTOCOLS, streamBy, streamChannel, type TestStream } from './fakes/streams.ts';
import { OWN_SERVICES, typeDefsOf } from './fakes/fake-subgraph.ts';

const COMMITTED = readFileSync(new URL('../supergraph.graphql', import.meta.url), 'utf8');
const REVIEWS = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key"])
  type Task @key(fields: "id") { id: ID! stars: Int! }
  type Query { motto: String! }
`;
const NAMES = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@override"])
  type User @key(fields: "id") { id: ID! name: String! @override(from: "auth") }
  type Query { names: Int }
`;
const SEQUENCES = 'subscription ($after: String) { taskChanges(after: $after) { sequence } }';
const STARS = 'subscription ($after: String) { taskChanges(after: $after) { sequence task { stars } } }';
const OWNERS = 'subscription ($after: String) { taskChanges(after: $after) { sequence task { owner { name } } } }';

const withoutDescriptions = (document: DocumentNode): DocumentNode =>
  visit(document, { enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined) });

/** Composes our own services with others; `edit` changes the SDL of ours. */
function compose(others: { name: string; url: string; typeDefs: string }[], edit: (sdl: string) => string = String) {
  return composed([
    ...OWN_SERVICES.map((name) => ({
      name,
      url: `http://${name}.invalid/graphql`,
      typeDefs: edit(print(withoutDescriptions(typeDefsOf(name)))),
    })),
    ...others,
  ]);
}

/** The schemas of the graphs that some work creates. Each graph is looked up by its schema. */
async function schemasOf(work: () => Promise<void>): Promise<WeakRef<object>[]> {
  const set = jest.spyOn(WeakMap.prototype, 'set');
  await work();
  const schemas = set.mock.calls.flatMap(([key]) => (key instanceof GraphQLSchema ? new WeakRef<object>(key) : []));
  set.mockRestore();
  return schemas;
}

const sequences = ({ events }: TestStream) => events.map(({ data }) => data?.taskChanges.sequence);

const reviews = await startForeignService(REVIEWS, {
  Task: { __resolveReference: ({ id }: { id: string }) => ({ id, stars: 5 }) },
  Query: { motto: () => 'onwards' },
});
const withStars = compose([{ name: 'reviews', url: reviews.url, typeDefs: REVIEWS }]);
const file = join(makeTempDir(), 'supergraph.graphql');
await writeFile(file, COMMITTED);
const gateway = await startTestGateway({ env: { SUPERGRAPH_FILE: file } });

describe('a gateway whose supergraph file changes', () => {
  let token: string;
  let userId: string;
  let users = 0;

  const serve = async (sdl: string) => {
    await writeFile(`${file}.new`, sdl);
    await rename(`${file}.new`, file);
    await gateway.gateway.reload();
  };
  const reloads = (outcome: string) =>
    gateway.figure(`taskmesh_gateway_supergraph_reloads_total{outcome="${outcome}"}`);
  const start = (query: string) => ({ origin: gateway.origin, token, query });
  /** One stream of each protocol that runs a document. */
  const graphqlStreams = (query: string) =>
    Promise.all(GRAPHQL_PROTOCOLS.map((protocol) => streamBy(protocol, start(query))));
  /** Commits changes that are not part of the test until each stream has received one. */
  const untilRunning = async (streams: TestStream[]) => {
    await eventually(async () => {
      gateway.commit(userId);
      await sleep(20);
      for (const { events } of streams) expect(events.length).toBeGreaterThan(0);
    });
  };

  beforeEach(async () => {
    await serve(COMMITTED);
    userId = USER.replace(/01$/, String(++users).padStart(2, '0'));
    token = await gateway.auth.token(userId);
  });

  it('keeps every stream of every protocol, without losing or repeating a change', async () => {
    const channel = await streamChannel(start(''));
    const streams = [...(await graphqlStreams(SEQUENCES)), ...(await graphqlStreams(OWNERS))];
    await untilRunning([...streams, channel]);
    let isWriting = true;
    let last = 0;
    const writing = (async () => {
      while (isWriting) {
        last = gateway.commit(userId).sequence;
        await sleep(1);
      }
    })();
    for (let round = 0; round < 6 || last <= 100; round++) {
      await serve(round % 2 === 0 ? withStars : COMMITTED);
      await sleep(30);
    }
    isWriting = false;
    await writing;
    for (const stream of streams) {
      await eventually(() => expect(sequences(stream).at(-1)).toBe(last));
      // Streams that began before the first change have seen all of them; the others, every change since their first.
      expect(sequences(stream)).toEqual(upTo(last).slice((sequences(stream)[0] ?? 0) - 1));
      expect([stream.errors, stream.ended]).toEqual([[], undefined]);
    }
    await eventually(() => expect(channel.events.length).toBeGreaterThan(100));
    expect([channel.errors, channel.ended]).toEqual([[], undefined]);
  });

  it('keeps nothing of the former graph for streams that began on it', async () => {
    await serve(withStars);
    const former = await schemasOf(() => serve(COMMITTED));
    const streams = [...(await graphqlStreams(SEQUENCES)), ...(await graphqlStreams(OWNERS))];
    await untilRunning(streams);
    expect(former.every((schema) => schema.deref())).toBe(true);
    await serve(withStars);
    const { sequence } = gateway.commit(userId);
    for (const stream of streams) await eventually(() => expect(sequences(stream).at(-1)).toBe(sequence));
    await eventually(() => {
      collectGarbage();
      expect(former.filter((schema) => schema.deref())).toEqual([]);
    });
  });

  it('renders later changes with the new graph', async () => {
    const names = await startForeignService(NAMES, {
      User: { __resolveReference: ({ id }: { id: string }) => ({ id, name: 'Another name' }) },
    });
    const streams = await graphqlStreams(OWNERS);
    const leaving = await streamBy('graphql-ws', start(OWNERS));
    await untilRunning([...streams, leaving]);
    leaving.close();
    await gateway.untilSubscriptions(streams.length);
    await serve(compose([{ name: 'names', url: names.url, typeDefs: NAMES }]));
    gateway.commit(userId);
    for (const { events } of streams)
      await eventually(() =>
        expect(events.at(-1)).toMatchObject({ data: { taskChanges: { task: { owner: { name: 'Another name' } } } } }),
      );
  });

  it('ends a stream whose field was removed with an error that says so, and no other', async () => {
    await serve(withStars);
    const ending = await graphqlStreams(STARS);
    const others = await graphqlStreams(SEQUENCES);
    await untilRunning([...ending, ...others]);
    const last = gateway.commit(userId).sequence;
    for (const stream of ending) await eventually(() => expect(sequences(stream).at(-1)).toBe(last));
    await serve(COMMITTED);
    for (const stream of ending) {
      await eventually(() => expect(stream.ended).toBeDefined());
      expect(stream.errors).toEqual([
        expect.objectContaining({
          message: 'The graph has changed: Cannot query field "stars" on type "Task".',
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        }),
      ]);
      // Only the operation ends, not the socket: others run on it.
      expect(stream.ended).toEqual({});
    }
    const next = gateway.commit(userId).sequence;
    for (const stream of others) await eventually(() => expect(sequences(stream).at(-1)).toBe(next));
  });

  it('ends a stream whose variables are no longer valid with the reason', async () => {
    const query = 'subscription ($filter: TaskFilter) { taskChanges(filter: $filter) { sequence } }';
    const stream = await streamBy('graphql-ws', { ...start(query), variables: { filter: { completed: false } } });
    await untilRunning([stream]);
    await serve(compose([], (sdl) => sdl.replace(/(input TaskFilter \{\s*)completed: Boolean/, '$1done: Boolean')));
    await eventually(() => expect(stream.ended).toBeDefined());
    expect(stream.errors[0]?.message).toMatch(/^The graph has changed: .*filter.completed/);
  });

  it('changes nothing for an invalid file, and logs it', async () => {
    await serve(withStars);
    const streams = await graphqlStreams(STARS);
    await untilRunning(streams);
    const loaded = await reloads('loaded');
    const isRefused = () => gateway.figure('taskmesh_gateway_supergraph_refused');
    expect(await isRefused()).toBe(0);
    const addresses = ['', 'http://me:secret@reviews.example/', 'ws://reviews.example/'];
    for (const broken of [
      ...['', 'type Query {', 'type Query { a: Int }', withStars.slice(0, -200)],
      ...addresses.map((address) => withStars.replace(reviews.url, address)),
    ]) {
      const refused = await reloads('refused');
      await serve(broken);
      expect(await reloads('refused')).toBeGreaterThan(refused); // twice if the file was being polled
    }
    expect(await reloads('loaded')).toBe(loaded);
    expect(gateway.logged).toContainEqual(
      expect.objectContaining({ level: 'error', msg: expect.stringContaining('keeping the previous one') }),
    );
    const next = gateway.commit(userId).sequence;
    for (const stream of streams) await eventually(() => expect(sequences(stream).at(-1)).toBe(next));
    expect((await gateway.graphql('{ motto }')).body.data).toEqual({ motto: 'onwards' });
    expect(await isRefused()).toBe(1);
    await serve(withStars); // restored
    expect(await isRefused()).toBe(0);
  });

  it('refuses a graph without accounts, which would remove all paths', async () => {
    const refused = await reloads('refused');
    await serve(composed([{ name: 'reviews', url: reviews.url, typeDefs: REVIEWS }]));
    expect(await reloads('refused')).toBe(refused + 1);
    expect((await gateway.graphql('{ me { id } }', { token })).body.data).toEqual({ me: { id: userId } });
  });

  it('removes a REST path that the graph no longer supports, and restores it', async () => {
    const statistics = () =>
      fetch(`${gateway.origin}/api/tasks/stats`, { headers: { authorization: `Bearer ${token}` } });
    expect((await statistics()).status).toBe(200);
    await serve(compose([], (sdl) => sdl.replaceAll('taskStatistics: TaskStatistics!', '')));
    expect((await statistics()).status).toBe(404);
    await serve(COMMITTED);
    expect((await statistics()).status).toBe(200);
  });

  it('notices changes by itself, also when a link above the file is swapped as for a ConfigMap, and tries a broken file once', async () => {
    const volume = makeTempDir();
    const publish = async (version: string, sdl: string) => {
      await mkdir(join(volume, version));
      await writeFile(join(volume, version, 'supergraph.graphql'), sdl);
      await symlink(version, join(volume, '..data_tmp'));
      await rename(join(volume, '..data_tmp'), join(volume, '..data'));
    };
    await publish('..v1', COMMITTED);
    await symlink('..data/supergraph.graphql', join(volume, 'supergraph.graphql'));
    const other = await startTestGateway({ env: { SUPERGRAPH_FILE: join(volume, 'supergraph.graphql') } });
    expect((await other.graphql('{ motto }')).body.errors).toBeDefined();
    await publish('..v2', withStars);
    await eventually(async () => expect((await other.graphql('{ motto }')).body.data).toEqual({ motto: 'onwards' }), {
      timeoutMs: 10_000,
    });
    const refused = () => other.figure('taskmesh_gateway_supergraph_reloads_total{outcome="refused"}');
    await publish('..v3', 'broken');
    await eventually(async () => expect(await refused()).toBe(1), { timeoutMs: 10_000 });
    await publish('..v4', 'broken'); // is not tried again by itself
    await sleep(3_000);
    expect(await refused()).toBe(1);
    await other.gateway.reload();
    expect(await refused()).toBe(2);
  });
});

it('a graph that is reverted while it is being prepared is not served', async () => {
  const path = join(makeTempDir(), 'supergraph.graphql');
  const build = (sdl: string) => ({ supergraph: { sdl, schema: new GraphQLSchema({}) } }) as unknown as Graph;
  const graph = createLiveGraph({ initial: build('old'), build });
  const prepared = Promise.withResolvers<() => void>();
  const isPreparing = new Promise<void>((begin) => {
    graph.beforeSwitch(() => {
      begin();
      return prepared.promise;
    });
  });
  const log = createLog({ service: 'test', level: 'silent' });
  const watch = watchSupergraph({ file: path, graph, metrics: new Registry(), log });
  await writeFile(path, 'new');
  const first = watch.reload();
  await isPreparing;
  await writeFile(path, 'old');
  const second = watch.reload();
  await Promise.race([second, sleep(200)]);
  prepared.resolve(() => undefined);
  await Promise.all([first, second]);
  expect(graph.current.supergraph.sdl).toBe('old');
});
