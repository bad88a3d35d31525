import { AppError, HTTP_STATUS, type ErrorCode } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import { createBothWorlds, createCall, OPTIONS, UNAVAILABLE, type BothWorlds } from './fakes/both-connections.ts';
import type { World } from './fakes/world.ts';

/** How far each reading of the clock advances it. */
let hurry = 0;
let ticks = 0;
const clock = { now: () => 1_800_000_000_000 + hurry * ticks++ };
let both: BothWorlds;

beforeAll(async () => {
  both = await createBothWorlds(clock);
});
beforeEach(() => {
  hurry = 0;
  both.reset();
});
afterAll(() => both.stop());

describe('the deadline', () => {
  const QUERY = '{ task(id: "1") { id owner { id } } }';
  const MUTATION = 'mutation { a: updateTask(id: "1", input: {}) { id } b: deleteTask(id: "2") }';

  it('of a query ends it, and no resolver begins any more', async () => {
    const held = Promise.withResolvers<void>();
    both.behave((name) => (name === 'task' ? held.promise : undefined));
    const send = ({ connections }: World) =>
      connections.request('tasks', undefined, { query: QUERY }, { ...OPTIONS, timeoutMs: 1_000 });
    expect((await both.inBoth(send)).outcome).toMatchObject(UNAVAILABLE);
    for (const world of both.worlds) await eventually(() => expect(world.isCancelled()).toBe(true));
    held.resolve();
    expect((await both.run('{ taskStatistics { total } }', {})).seen.map(([name]) => name)).toEqual([
      'task',
      'taskStatistics',
    ]);
  });

  it('of a mutation is delivered in time, and what has begun continues to its end', async () => {
    const held = Promise.withResolvers<void>();
    both.behave((name) => (name === 'updateTask' ? held.promise : undefined));
    const send = ({ connections }: World) =>
      connections.request('tasks', undefined, { query: MUTATION }, { ...OPTIONS, timeoutMs: 1_000, idempotent: false });
    expect((await both.inBoth(send)).outcome).toMatchObject(UNAVAILABLE);
    held.resolve();
    for (const { seen } of both.worlds)
      await eventually(() => expect(seen.map(([name]) => name)).toEqual(['updateTask', 'deleteTask']));
  });

  it('of an operation counts for all its fetches', async () => {
    hurry = 9_900;
    both.behave((name) => (name === 'task' ? new Promise(() => undefined) : undefined));
    for (const source of [QUERY, '{ task(id: "1") { owner { name } } }']) {
      ticks = 0;
      const results = await Promise.all(
        both.worlds.map(async ({ executor }) => {
          ticks = 0;
          return executor.run(executor.prepare(source), {}, createCall());
        }),
      );
      for (const { errors } of results) expect(errors?.[0]?.extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    }
  });

  it('of an internal call is 3 s', async () => {
    both.behave(() => new Promise(() => undefined));
    const began = performance.now();
    const ask = ({ connections }: World) => connections.auth.endedSessions(0);
    expect((await both.inBoth(ask)).outcome).toMatchObject(UNAVAILABLE);
    expect(performance.now() - began).toBeGreaterThan(2_900);
  });
});

describe('a client that goes away', () => {
  const QUERY = '{ task(id: "1") { id owner { id name } } }';
  const MUTATION = 'mutation { updateTask(id: "1", input: {}) { id owner { id } } }';

  it.each([QUERY, MUTATION])('before anything is sent: nothing is (%s)', async (source) => {
    const signal = AbortSignal.abort();
    const { outcome, seen } = await both.run(source, {}, () => createCall({ signal }));
    expect(outcome.result).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    expect(seen).toEqual([]);
  });

  /** Runs an operation for a client of each world that disconnects during the first resolver. */
  const runForDeparting = (source: string, resolver: string, answer?: Promise<void>) => {
    const clients = new Map(both.worlds.map((world) => [world, new AbortController()]));
    for (const [world, client] of clients) {
      world.behave = (name) => {
        if (name !== resolver) return undefined;
        client.abort();
        return answer ?? Promise.resolve();
      };
    }
    return both.run(source, {}, (world) => createCall({ signal: clients.get(world)?.signal }));
  };

  it('ends the query that runs for it, between two resolvers', async () => {
    const held = Promise.withResolvers<void>();
    const { outcome } = await runForDeparting(QUERY, 'task', held.promise);
    expect(outcome.result).toMatchObject({ errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE' } }] });
    for (const world of both.worlds) await eventually(() => expect(world.isCancelled()).toBe(true));
    held.resolve();
    expect((await both.run('{ taskStatistics { total } }')).seen).toHaveLength(2);
  });

  it('ends no mutation that was sent', async () => {
    const { outcome, seen } = await runForDeparting(MUTATION, 'updateTask');
    expect(outcome.result).toEqual({ data: { updateTask: { id: '1', owner: { id: 'ada' } } } });
    expect(seen.map(([name]) => name)).toEqual(['updateTask', 'owner']);
  });
});

describe('an internal call', () => {
  const call = ({ connections }: World) => connections.tasks.changesAfter('ada', 1, undefined as never);

  it.each<[string, unknown]>([
    ['JSON', { epoch: 1, expired: false, changes: [{ id: '1', task: { title: 'ä' } }] }],
    ['more than JSON', { at: new Date(0), left: undefined, list: [undefined, Number.NaN], map: new Map() }],
    ['nothing', undefined],
    ['null', null],
    ['false', false],
  ])('has the same arguments, and answers with %s alike', async (_what, answer) => {
    both.behave(() => answer);
    const { seen, outcome } = await both.inBoth(call);
    expect(seen).toEqual([['changesAfter', ['ada', 1, null]]]);
    expect(outcome).toStrictEqual({ result: JSON.parse(JSON.stringify(answer ?? null)) });
  });

  it.each<[string, () => unknown]>([
    ...Object.keys(HTTP_STATUS).map((code): [string, () => unknown] => [
      code,
      () => {
        const issues = [{ path: 'owner', message: 'No.' }];
        throw new AppError(code as ErrorCode, `It is ${code}.`, { issues, retryAfterSeconds: 7 }); // the codes are its keys
      },
    ]),
    ['a defect', () => Promise.reject(new TypeError('secret'))],
    ['no error', () => Promise.reject('secret')],
    ['what JSON has no form for', () => 1n],
  ])('fails alike: %s', async (_what, behaviour) => {
    both.behave(behaviour);
    const { outcome } = await both.inBoth(call);
    expect(outcome).toMatchObject({ error: 'AppError' });
    expect(JSON.stringify(outcome)).not.toContain('secret');
  });

  it('shares no object with the service', async () => {
    const answer = { epoch: 1, heads: { ada: 1 } };
    const owners = ['ada'];
    for (const world of both.worlds) {
      world.behave = () => answer;
      expect((await world.connections.tasks.heads(owners)).heads).not.toBe(answer.heads);
      expect(world.seen[0]?.[1]).not.toContain(owners);
    }
  });
});
