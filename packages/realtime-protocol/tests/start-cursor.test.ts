import { createChannelWorld, settled, TOPIC, type Client } from './world.ts';

let world: ReturnType<typeof createChannelWorld>;
beforeEach(() => {
  world = createChannelWorld();
  world.commit('ada');
  world.commit('bob');
  world.commit('bob');
});
afterEach(() => world.end());

/** The messages in order, each as its cursor, its change's title, its message or its event. */
const said = ({ frames }: Client) =>
  frames.map(([, , , event, { cursor, message, data }]) => cursor ?? data?.record.title ?? message ?? event);
const ANSWER = ['phx_reply', 'Subscribed to PostgreSQL'];

describe('a channel that starts from now', () => {
  it('sends the cursor at once, right after the reply to its join', async () => {
    const client = await world.joined({ resume: { since: null } });
    expect(said(client)).toEqual([...ANSWER, 'ada|1']);
    const payload = { extension: 'resume', status: 'ok', message: 'cursor', cursor: 'ada|1', channel: 'tasks' };
    expect(client.frames.at(-1)).toEqual(['1', null, TOPIC, 'system', payload]);
  });

  it.each([
    ['that did not request it', {}],
    ['that has a cursor', { resume: { since: 'ada|1' } }],
    ['without bindings', { resume: {}, config: { postgres_changes: [] } }],
  ])('sends no cursor to a client %s', async (_which, payload) => {
    const client = await world.joined(payload);
    expect(client.frames.filter(([, , , , { extension }]) => extension === 'resume')).toEqual([]);
  });

  it.each(['one that expired', '', 'x'.repeat(256), 5, {}, true])(
    'reports an unusable cursor (%j), and sends the new one before any change',
    async (what) => {
      const since = what === 'one that expired' ? world.unusableCursor : what;
      const client = await world.joined({ resume: { since } });
      world.commit('ada');
      expect(said(client)).toEqual([...ANSWER, 'CURSOR_EXPIRED', 'ada|1', 'ada#2']);
      expect(world.failures).toEqual(['cursor_expired']);
    },
  );

  it('sends the cursor of a new owner once', async () => {
    const client = await world.joined({ resume: { since: 'ada|0' } });
    await settled();
    await client.push('bob.fresh.2');
    await client.push('bob.fresh.3');
    expect(said(client)).toEqual([...ANSWER, 'ada#1', 'ada|1', 'bob|2']);
  });
});

it('a token that cannot be verified yet closes the socket with a notice on every channel when one is joined with it, or receives it', async () => {
  const said = { extension: 'system', status: 'error', message: 'The service is not available right now' };
  world.isWaiting = true;
  const joining = world.connect();
  await joining.join('1');
  await world.release('fail');
  expect(joining.closed?.code).toBe(1013);
  expect(joining.frames).toEqual([['1', null, TOPIC, 'system', { ...said, channel: 'tasks' }]]);
  world.isWaiting = false;
  const client = await world.joined();
  await client.join('2', {}, 'realtime:other');
  client.frames.length = 0;
  world.isWaiting = true;
  await client.push('ada.fresh.2');
  await world.release('fail');
  expect(client.closed?.code).toBe(1013);
  expect(client.frames).toEqual([
    ['1', null, TOPIC, 'system', { ...said, channel: 'tasks' }],
    ['2', null, 'realtime:other', 'system', { ...said, channel: 'other' }],
  ]);
  world.commit('ada');
  expect(client.received()).toEqual([]);
});
