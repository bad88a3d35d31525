import { atEnd, eventually } from '@taskmesh/testing';
import { fetchGraphQL, startTestGateway, type TestGateway, USER } from './fakes/gateway.ts';

const QUERY =
  'subscription ($after: String, $filter: TaskFilter) { taskChanges(after: $after, filter: $filter) { sequence } }';

const gateway = await startTestGateway();
const token = await gateway.auth.token(USER);

type Options = { after?: string; lastEventId?: string; filter?: Record<string, unknown> };

async function open(accept: string, { after, lastEventId, filter }: Options = {}, { origin } = gateway) {
  const abort = new AbortController();
  const body = { query: QUERY, variables: { after, filter } };
  const headers = { authorization: `Bearer ${token}`, accept, ...(lastEventId && { 'last-event-id': lastEventId }) };
  const response = await fetchGraphQL(origin, body, headers, abort.signal);
  const stream = { text: '', close: () => abort.abort() };
  atEnd(stream.close);
  void (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) stream.text += chunk;
  })().catch(() => undefined); // broken off
  return stream;
}
const next = (sequence: number) =>
  `event: next\nid: ${gateway.tasks.changes.cursor(USER, sequence)}\ndata: {"data":{"taskChanges":{"sequence":${sequence}}}}\n\n`;

describe('a new stream of server-sent events', () => {
  it('sends its id at once, as an event without data, from which clients resume', async () => {
    gateway.commit(USER);
    const stream = await open('text/event-stream');
    const first = gateway.tasks.changes.cursor(USER, 1);
    await eventually(() => expect(stream.text).toBe(`:\n\nid: ${first}\n\n`));
    stream.close();
    gateway.commit(USER);
    const resumed = await open('text/event-stream', { lastEventId: first });
    await eventually(() => expect(resumed.text).toBe(`:\n\n${next(2)}`));
  });

  it('sends no other id if the client brings one', async () => {
    const stream = await open('text/event-stream', { after: gateway.tasks.changes.cursor(USER, 1) });
    await eventually(() => expect(stream.text).toBe(`:\n\n${next(2)}`));
    stream.close();
  });
});

it('a multipart stream without a cursor sends nothing before its first change', async () => {
  const stream = await open('multipart/mixed;subscriptionSpec=1.0');
  gateway.commit(USER);
  await eventually(() => expect(stream.text).toContain('"sequence":3'));
  expect(stream.text.split('--graphql')).toHaveLength(4); // the opening, its empty part, the change's
  stream.close();
});

it('a stream of server-sent events sends the newest cursor after a replay of changes that its filter excludes', async () => {
  const cursor = (sequence: number) => gateway.tasks.changes.cursor(USER, sequence);
  const opening = ':\n\n';
  const resume = async (filter: Record<string, unknown>) => open('text/event-stream', { after: cursor(0), filter });
  const head = gateway.commit(USER).sequence;
  const [none, all] = [await resume({ priority: 'HIGH' }), await resume({})];
  await eventually(() => expect(none.text).toBe(`${opening}id: ${cursor(head)}\n\n`));
  await eventually(() => expect(all.text).toContain(next(head)));
  expect(all.text.match(/^id: /gm)).toHaveLength(head);
});

describe('a live stream of server-sent events whose filter excludes the newest changes', () => {
  let beating: TestGateway;
  beforeAll(async () => {
    const { setInterval } = globalThis;
    // Heartbeats are due every 12 s, and connections take turns of a quarter of a second.
    jest
      .spyOn(globalThis, 'setInterval')
      .mockImplementation((run, ms, ...rest) => setInterval(run, ms === 250 ? 2 : ms, ...rest));
    beating = await startTestGateway({ beside: gateway });
  });
  afterAll(() => jest.restoreAllMocks());

  it('sends the newest cursor with its heartbeats, from which clients resume', async () => {
    const stream = await open('text/event-stream', { filter: { priority: 'HIGH' } }, beating);
    await eventually(() => expect(stream.text).toMatch(/^id: /m));
    beating.commit(USER);
    const { sequence } = beating.commit(USER);
    const newest = gateway.tasks.changes.cursor(USER, sequence);
    await eventually(() => expect(stream.text).toContain(`id: ${newest}\n\n`));
    expect(stream.text).not.toContain('data:');
    stream.close();
    const resumed = await open('text/event-stream', { lastEventId: newest });
    gateway.commit(USER);
    await eventually(() => expect(resumed.text.replaceAll(':\n\n', '')).toBe(next(sequence + 1)));
  });

  it('sends none while the filter matches', async () => {
    const stream = await open('text/event-stream', { filter: {} }, beating);
    await eventually(() => expect(stream.text).toMatch(/^id: /m));
    const { sequence } = beating.commit(USER);
    await eventually(() => expect(stream.text).toContain(next(sequence)));
    const { length } = stream.text;
    await eventually(() => expect(stream.text.slice(length)).toMatch(/^(:\n\n)+$/));
    stream.close();
  });
});
