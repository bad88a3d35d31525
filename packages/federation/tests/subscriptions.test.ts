import { parse, type ExecutionResult } from 'graphql';
import { once } from 'node:events';
import { compiledSubscriptions, type SubgraphAnswer } from '../src/index.ts';
import { responseOf, REVIEWED, reviewedEvent, supergraph } from './products-and-reviews.ts';

describe('a subscription across several services', () => {
  const asked: { service: string; text: string; variables: unknown; user: unknown }[] = [];
  let ended = 0;
  /** The events that the service sends. */
  let events: (signal: AbortSignal) => AsyncGenerator<SubgraphAnswer>;
  const subscribe = compiledSubscriptions<{ user: string }>({
    supergraph,
    ask: ({ operation: { service, text }, variables }) => responseOf(service, text, variables),
    async *subscribe({ operation: { service, text }, variables }, { user }, signal) {
      asked.push({ service, text, variables, user });
      try {
        yield* events(signal);
      } finally {
        ended++;
      }
    },
  });
  const review = (id: number) => ({
    data: { reviewed: { words: `words ${id}`, product: { __typename: 'Product', id: String(id), stars: id % 5 } } },
  });
  const open = async (query: string, variableValues = {}) =>
    subscribe({ document: parse(query), variableValues, contextValue: { user: 'ada' } });
  const collect = async (query: string, variableValues = {}) => {
    const results: ExecutionResult[] = [];
    const opened = await open(query, variableValues);
    if (!(Symbol.asyncIterator in opened)) return [opened];
    for await (const result of opened) results.push(JSON.parse(JSON.stringify(result)) as ExecutionResult);
    return results;
  };
  beforeEach(() => {
    asked.length = 0;
    ended = 0;
    events = async function* () {
      for (const id of [1, 2, 3]) yield review(id);
    };
  });

  it('subscribes once at one service and fetches missing fields of each event from others', async () => {
    expect(await collect(REVIEWED, { n: 3 })).toEqual([1, 2, 3].map(reviewedEvent));
    expect(asked).toEqual([
      { service: 'reviews', text: expect.stringMatching(/^subscription/), variables: { n: 3 }, user: 'ada' },
    ]);
    expect(ended).toBe(1);
  });

  it('ends at once when the root field is skipped, because no event would ever come', async () => {
    expect(await collect('subscription { reviewed @skip(if: true) { words } }')).toEqual([]);
    expect(asked).toEqual([]);
  });

  it('ends the subscription at the service when the client unsubscribes', async () => {
    const opened = await open(REVIEWED, { n: 3 });
    if (!(Symbol.asyncIterator in opened)) throw new Error('refused');
    for await (const _result of opened) break;
    expect(ended).toBe(1);
  });

  it.each([
    ['ends', () => undefined],
    ['fails', (signal: AbortSignal) => signal.throwIfAborted()],
  ])(
    'ends the subscription at the service when the client unsubscribes between events (its stream %s)',
    async (_how, end) => {
      events = async function* (signal) {
        yield review(1);
        await once(signal, 'abort');
        end(signal);
      };
      const opened = await open(REVIEWED, { n: 3 });
      if (!(Symbol.asyncIterator in opened)) throw new Error('refused');
      expect(await opened.next()).toMatchObject({ done: false });
      const next = opened.next();
      await opened.return();
      expect(ended).toBe(1);
      expect(await next).toEqual({ done: true, value: undefined });
      expect(await opened.next()).toEqual({ done: true, value: undefined });
    },
  );

  it('reports errors of an event at their paths and continues', async () => {
    events = async function* () {
      yield { data: null, errors: [{ message: 'no words today', path: ['reviewed', 'words'] }] };
      yield review(2);
    };
    const [first, second] = await collect(REVIEWED, { n: 2 });
    expect(first).toMatchObject({ data: null, errors: [{ message: 'no words today' }] });
    expect(second).toEqual(reviewedEvent(2));
  });

  it('ends with an error when the service cannot be subscribed to', async () => {
    events = async function* () {
      throw new Error('connection refused');
    };
    expect(await collect(REVIEWED, { n: 2 })).toMatchObject([
      { data: null, errors: [{ extensions: { serviceName: 'reviews' } }] },
    ]);
    expect(ended).toBe(1);
  });

  it.each([
    ['variables of the wrong type', REVIEWED, { n: 'three' }],
    ['a query', '{ product(id: 1) { name } }', {}],
  ])('rejects %s without calling a service', async (_what, query, variables) => {
    expect(await collect(query, variables)).toMatchObject([{ errors: [{ message: expect.any(String) }] }]);
    expect(asked).toEqual([]);
  });
});
