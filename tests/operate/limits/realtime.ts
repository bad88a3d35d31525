import { JSON_TYPE, replacedValue, TASK_FIELDS, times, type Account, type Case } from './case.ts';
import type { MeasuredProduct } from './measured-product.ts';
import { channel, fragments, graphqlWs, subscribe } from './sockets.ts';

const FRAME = 65_000;

type Frames = (turn: number) => readonly unknown[];
function graphqlSocket(name: string, by: Case['by'], outcome: string, frames: Frames): Case {
  return {
    ...{ kind: 'socket', name, by, outcome },
    send: (product, { token }, turn) =>
      closed(graphqlWs(product.url, by === 'account' ? token : undefined, frames(turn))),
  };
}

function channelSocket(name: string, by: Case['by'], outcome: string, join: (turn: number) => object | string): Case {
  return {
    ...{ kind: 'socket', name, by, outcome },
    send: (product, { token }, turn) => {
      const asked = join(turn);
      const given = typeof asked === 'string' || by === 'stranger' ? asked : { ...asked, access_token: token };
      return closed(channel(product.url, given));
    },
  };
}

async function closed(opening: ReturnType<typeof channel>): Promise<string> {
  const { outcome, socket } = await opening;
  socket.terminate();
  return outcome;
}

const run = (query: string) => ({ id: '1', type: 'subscribe', payload: { query } });
const ping = (numbers: number) => `{"type":"ping","payload":{"a":[${'1,'.repeat(numbers)}12345678901234567]}}`;

const sockets: readonly Case[] = [
  graphqlSocket('a first frame of 64 KB', 'stranger', '4401', () => [
    { type: 'connection_init', payload: { x: 'x'.repeat(FRAME) } },
  ]),
  graphqlSocket('a first frame of lists in lists', 'stranger', '4400', () => ['['.repeat(FRAME)]),
  graphqlSocket('a ping of 32,000 numbers, one of them large', 'stranger', '4400', () => [ping(32_000)]),
  {
    ...graphqlSocket('200 pings of 9,000 numbers, one of them large', 'stranger', '1013', () =>
      Array.from({ length: 201 }, () => ping(9_000)),
    ),
    requests: 200,
  },
  graphqlSocket('a ping of large integers that a repeated key replaces', 'stranger', '4401', () => [
    `{"type":"ping",${replacedValue({ levels: 2_000, keyLength: 1, integers: 2_600 })}}`,
    run('{ __typename }'),
  ]),
  graphqlSocket('a token of 60 KB', 'stranger', '4403', () => [
    { type: 'connection_init', payload: { authorization: `Bearer ${'x.'.repeat(30_000)}` } },
  ]),
  graphqlSocket('a document of 64 KB', 'account', 'error', (turn) => [
    run(`{ ${times(1_900, (at) => `x${turn}_${at}`)} }`),
  ]),
  graphqlSocket('a page of 1,000 tasks', 'account', 'next', (turn) => [
    run(`{ a${turn}: tasks(first: 1000) { edges { node { ${TASK_FIELDS.join(' ')} } } } }`),
  ]),
  {
    ...{ kind: 'socket', name: 'a message in 4,000 pieces, without an end', by: 'stranger', outcome: 'closed' },
    send: ({ url }) => fragments(url, 'x', 4_000),
  },
  channelSocket('a frame of lists in lists', 'stranger', 'dropped', () => '['.repeat(FRAME)),
  channelSocket('a join without a token, with 4,900 empty lists', 'stranger', 'join error', () => ({
    config: { postgres_changes: [{ event: '*', more: Array.from({ length: 4_900 }, () => []) }] },
  })),
  channelSocket('a join without a token, with 100 filters', 'stranger', 'join error', () => ({
    config: { postgres_changes: bindings(() => `category=in.(${'a,'.repeat(95)}a)`) },
  })),
  channelSocket('a join with 100 filters', 'account', 'join ok', (turn) => ({
    config: { postgres_changes: bindings((at) => `category=in.(${turn}_${at},${'a,'.repeat(78)}a)`) },
  })),
  channelSocket('patterns', 'account', 'join ok', (turn) => ({ config: { postgres_changes: patterns(turn) } })),
];

const ALL = { event: '*', schema: 'public', table: 'tasks' };
function bindings(filter: (at: number) => string, count = 100) {
  return Array.from({ length: count }, (_, at) => ({ ...ALL, filter: filter(at) }));
}

/** As many as a user may have. Each follows a long description to its end. */
const patterns = (turn: number) => bindings((at) => `description=ilike.%${'a'.repeat(80)}${turn}_${at}`, 10);

/** Short fields of a task: a list of 1,000 tasks with these fits into an event. */
const SHORT_FIELDS = TASK_FIELDS.filter((field) => !/description|title|category/.test(field));

const update = (product: MeasuredProduct, { token, taskId }: Account, turn: number, character = '😀') =>
  product.send(`/api/tasks/${taskId}`, {
    method: 'PATCH',
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}` },
    body: JSON.stringify({ description: character.repeat(2_000), category: `c${turn}` }),
  });

/** Costly subscriptions, and one change after another. With all fields, an event is too large and ends its stream. */
function feed(name: string, subscriptions: number, count: number, fields = SHORT_FIELDS): Case {
  const outcome = fields === SHORT_FIELDS ? 'next' : '200';
  return {
    ...{ kind: 'change', name, by: 'account', outcome, requests: count },
    async send(product, account, turn) {
      const query = (at: number) => `subscription { taskChanges { task { a${turn}_${at}: owner {
        tasks(first: 1000) { edges { node { ${fields.join(' ')} } } } } } } }`;
      const open = (_: unknown, at: number) => subscribe(product.url, account.token, query(at));
      const streams = await Promise.all(Array.from({ length: subscriptions }, open));
      const outcomes = new Set<string>();
      for (let change = 0; change < count; change++) {
        const changed = update(product, account, turn * count + change);
        const [, ...received] = await Promise.all([changed, ...streams.map((stream) => stream.next())]);
        for (const outcome of received) outcomes.add(outcome);
      }
      for (const stream of streams) stream.close();
      return [...outcomes].join();
    },
  };
}

const changes: readonly Case[] = [
  feed('four subscriptions with 1,000 tasks each', 4, 1),
  feed('a subscription with 1,000 tasks beside ten changes', 1, 10),
  feed('four subscriptions with 1,000 whole tasks each', 4, 1, TASK_FIELDS),
  {
    ...{ kind: 'change', name: 'ten patterns of channels', by: 'account', outcome: 'change' },
    send(product, account, turn) {
      const join = { config: { postgres_changes: [...patterns(turn), ALL] }, access_token: account.token };
      return closed(channel(product.url, join, () => update(product, account, turn, 'a')));
    },
  },
];

export const realtime = [...sockets, ...changes];
