import type { TaskChanged } from '@taskmesh/contracts';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { GraphQLError } from 'graphql';
import { createResultFormat } from '../supergraph/client-errors.ts';
import { createLargeResponses } from '../supergraph/large-responses.ts';
import type { RequestCall } from '../supergraph/operation.ts';
import type { Graph } from '../supergraph/live-graph.ts';
import { CALL as call, documentsOfClients, OWNER, supergraph } from '../../tests/fakes/executor.ts';
import { createEventRenderer } from './event-renderer.ts';

const NAMES = 'subscription { taskChanges { task { owner { name } } } }';

type Answer = { data?: unknown; errors?: { message: string; extensions: { code: string } }[] };
interface Request {
  variables: Record<string, unknown>;
  sessionId: string | undefined;
  answer: (answer: Answer) => void;
}

const AWAY: Answer = { errors: [{ message: 'away', extensions: { code: 'SERVICE_UNAVAILABLE' } }] };
const named = (name: string): Answer => ({ data: { _entities: [{ __typename: 'User', name }] } });
const waiting = () => true;
const atOnce = <Result>(work: () => Promise<Result>) => work();

/** A rendering whose services respond when the test says so. */
function createWorld(text: string) {
  const requests: Request[] = [];
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const take = (variables: Request['variables'], { identity }: RequestCall) =>
    new Promise((resolve) => {
      const answer = ({ data, errors }: Answer) =>
        resolve({ data, errors: errors?.map(({ message, extensions }) => new GraphQLError(message, { extensions })) });
      const sessionId = identity.role === 'user' ? identity.sessionId : undefined;
      requests.push({ variables, sessionId, answer });
    });
  const source = {
    execute: ({ variables }: Pick<Request, 'variables'>, { call }: { call: RequestCall }) => take(variables, call),
  };
  const graph = { supergraph, services: { auth: source, tasks: source } } as unknown as Graph; // all that is read
  const rendering = createEventRenderer(graph, documentsOfClients().admit(text), {
    formatResult: createResultFormat(createLog({ service: 'test', level: 'silent' })),
    largeResponses: createLargeResponses(),
  });
  return { rendering, requests, setClock: (ms: number) => clock.mockReturnValue(ms) };
}

function changeOf(sequence: number): TaskChanged {
  const task = { id: 't', ownerId: OWNER, title: 'a task', description: null, completed: false, priority: 'low' };
  return { sequence, ownerId: OWNER, task, previous: null, traceparent: null } as unknown as TaskChanged; // all that is read
}

afterEach(() => void jest.restoreAllMocks());

it('many long events in one turn of the event loop are written over several turns, in order', async () => {
  const { rendering } = createWorld('subscription { taskChanges { sequence task { a: title b: title } } }');
  const render = rendering.withVariables({}, call, atOnce);
  const long = (sequence: number) => {
    const change = changeOf(sequence);
    return { ...change, task: { ...change.task, title: '\u0007'.repeat(10_000) } };
  };
  const texts = Array.from({ length: 20 }, (_, index) => render(long(index), waiting));
  const kinds = texts.map((text) => typeof text);
  expect(kinds[0]).toBe('string');
  expect(kinds.lastIndexOf('string')).toBeLessThan(kinds.indexOf('object'));
  const written = (await Promise.all(texts)).map((text) => /"sequence":(\d+)/.exec(text)?.[1]);
  expect(written).toEqual(texts.map((_, index) => String(index)));
  await new Promise((resolve) => setImmediate(resolve));
  expect(typeof render(long(20), waiting)).toBe('string');
});

it('many readers of an event are written to over several turns, in order, and each looks only when it is its turn', async () => {
  const { rendering, requests } = createWorld(NAMES);
  const render = rendering.withVariables({}, call, atOnce);
  const [change, written] = [changeOf(1), [] as number[]];
  const leaves = (reader: number) => reader % 10 === 9;
  let looks = 0;
  const texts = Array.from({ length: 10_000 }, async (_, reader) => {
    await render(change, () => ++looks > 0 && (written.length === 0 || !leaves(reader)));
    if (!leaves(reader)) written.push(reader);
  });
  await eventually(() => expect(requests).toHaveLength(1));
  requests[0]?.answer(named('Ada'));
  let turns = 0;
  for (; written.length < 9_000; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(turns).toBeGreaterThan(15);
  expect(turns).toBeLessThan(30);
  await Promise.all(texts);
  expect(written).toEqual(texts.map((_, reader) => reader).filter((reader) => !leaves(reader)));
  expect(looks).toBeLessThan(4 * texts.length);
});

it('an account with many events does not delay another one with the same document', async () => {
  const { rendering, requests } = createWorld(NAMES);
  const neverItsTurn = () => new Promise<never>(() => undefined);
  const busy = rendering.withVariables({}, call, neverItsTurn);
  for (let sequence = 0; sequence < 100; sequence++) void busy(changeOf(sequence), waiting);
  const other = rendering.withVariables({}, call, atOnce)(changeOf(100), waiting);
  await eventually(() => expect(requests).toHaveLength(1));
  requests[0]?.answer(named('Ada'));
  expect(await other).toContain('Ada');
});

it('accounts at one address with many events do not delay one at another address with the same document', async () => {
  const { rendering, requests } = createWorld(NAMES);
  const busy = rendering.withVariables({}, call, atOnce);
  for (let sequence = 0; sequence < 100; sequence++) void busy(changeOf(sequence), waiting);
  await eventually(() => expect(requests).toHaveLength(16));
  const other = rendering.withVariables({}, { ...call, ip: '192.0.2.99' }, atOnce)(changeOf(100), waiting);
  for (const { answer } of requests.slice(0, 2)) answer(named('Bob'));
  await eventually(() => expect(requests).toHaveLength(18));
  for (const { answer } of requests.slice(16)) answer(named('Ada'));
  expect(await other).toContain('Ada');
  for (let at = 2; at < 101; at++) {
    await eventually(() => expect(requests.length).toBeGreaterThan(at));
    requests[at]?.answer(named('Bob'));
  }
});

it('an event whose service stays unavailable is requested again by readers that come back', async () => {
  const { rendering, requests, setClock } = createWorld(NAMES);
  const render = rendering.withVariables({}, call, atOnce);
  const change = changeOf(1);
  const text = render(change, waiting);
  await eventually(() => expect(requests).toHaveLength(1));
  setClock(30_001);
  requests[0]?.answer(AWAY);
  await expect(text).rejects.toThrow('not available');
  const again = render(change, waiting);
  await eventually(() => expect(requests).toHaveLength(2));
  requests[1]?.answer(named('Ada'));
  expect(await again).toContain('Ada');
});

it('an event for a closed stream does not delay others', async () => {
  const { rendering, requests } = createWorld(NAMES);
  const render = rendering.withVariables({}, call, atOnce);
  let isGone = false;
  const gone = Array.from({ length: 100 }, (_, number) => render(changeOf(number), () => !isGone));
  await eventually(() => expect(requests).toHaveLength(16));
  const text = render(changeOf(101), waiting);
  isGone = true;
  // Running requests are not repeated, and queued ones are never sent.
  for (const { answer } of requests.slice(0, 16)) answer(AWAY);
  await eventually(() => expect(requests).toHaveLength(17));
  requests[16]?.answer(named('Ada'));
  expect(await text).toContain('Ada');
  for (const { status } of await Promise.allSettled(gone)) expect(status).toBe('rejected');
  expect(requests).toHaveLength(17);
});

describe('equal streams', () => {
  it.each([
    ['service is unavailable', AWAY],
    ['session ends', { errors: [{ message: 'ended', extensions: { code: 'UNAUTHENTICATED' } }] }],
  ])('get the event even if the first one leaves while its %s', async (_what, answer) => {
    const { rendering, requests } = createWorld(NAMES);
    let hasEnded = false;
    const change = changeOf(1);
    const texts = ['first', 'second'].map((sessionId, index) => {
      const session = { ...call, identity: { role: 'user' as const, userId: OWNER, sessionId } };
      return rendering.withVariables({}, session, atOnce)(change, () => index === 1 || !hasEnded);
    });
    await eventually(() => expect(requests).toHaveLength(1));
    hasEnded = true;
    requests[0]?.answer(answer);
    await eventually(() => expect(requests.map(({ sessionId }) => sessionId)).toEqual(['first', 'second']));
    requests[1]?.answer(named('Ada'));
    for (const text of await Promise.all(texts)) expect(text).toContain('Ada');
  });

  it('are not equal if a variable of the position is also used in a fragment', async () => {
    const { rendering, requests } = createWorld(`subscription ($after: String) { taskChanges(after: $after) { ...F } }
      fragment F on TaskChange { task { owner { tasks(after: $after) { totalCount } } } }`);
    const change = changeOf(1);
    const texts = ['one', 'two'].map((after) => rendering.withVariables({ after }, call, atOnce)(change, waiting));
    await eventually(() => expect(requests).toHaveLength(2));
    expect(requests.map(({ variables }) => variables['after'])).toEqual(['one', 'two']);
    for (const [index, { answer }] of requests.entries())
      answer({ data: { _entities: [{ __typename: 'User', tasks: { totalCount: index } }] } });
    expect((await Promise.all(texts)).map((text) => /"totalCount":(\d)/.exec(text)?.[1])).toEqual(['0', '1']);
  });
});
