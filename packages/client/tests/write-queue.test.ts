import { TaskmeshError } from '../src/errors.ts';
import { createPost, type Post } from '../src/http.ts';
import { CREATE_TASK, DELETE_TASK, READ_TASK, UPDATE_TASK } from '../src/operations.generated.ts';
import { createMemoryStorage, type Storage } from '../src/storage.ts';
import { createWriteQueue } from '../src/writes/write-queue.ts';
import { localIdOf, type Write } from '../src/writes/write.ts';
import { createManualTime, settled } from './support/manual-time.ts';
import { createBrokenStorage, createTestStorage } from './support/test-storage.ts';

const DAY_MS = 24 * 3_600_000;
const KEY = 'taskmesh.writes.ada';

const task = (id: string, fields: object = {}) => ({ id, title: 'a task', version: 1, dueDate: null, ...fields });
const writeOf = (kind: Write['kind'], taskId: string, fields: object) =>
  ({ key: `${kind} of ${taskId}`, queuedAt: 0, kind, taskId, ...fields }) as Write;
const create = (key: string) => writeOf('create', localIdOf(key), { key, input: { title: key } });
const update = (taskId: string, fields: object = {}) =>
  writeOf('update', taskId, { input: { title: 'renamed' }, ...fields });
const remove = (taskId: string, fields: object = {}) => writeOf('delete', taskId, fields);
const error = (code: string, retryAfterMs = 0) => new TaskmeshError(code, code, { retryAfterMs });
const outcomeOf = (write: Promise<unknown>) =>
  write.then(
    () => 'done',
    ({ code }: TaskmeshError) => code,
  );

/** A server with scripted responses. */
function createWorld(storage: Storage = createMemoryStorage()) {
  const time = createManualTime();
  const sent: { document: string; variables: Record<string, unknown> }[] = [];
  const responses: (object | Error)[] = [];
  let userId: string | null | undefined = 'ada';
  let stayId: string | undefined = 'ada';
  const listeners = new Set<() => void>();
  const request = (async (document: string, variables: Record<string, unknown>) => {
    sent.push({ document, variables });
    const response = responses.shift() ?? error('NETWORK');
    if (response instanceof Error) throw response;
    return response;
  }) as Post;
  const user = () => (userId == null ? userId : { id: userId, email: '', name: '' });
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  const switchTo = (next: string | null | undefined, hasSignedOut = false, nextStay = next ?? stayId) => {
    userId = next;
    stayId = hasSignedOut ? undefined : nextStay;
    for (const listener of listeners) listener();
  };
  const open = (own = async () => () => {}) =>
    createWriteQueue({
      session: {
        user,
        subscribe,
        request,
        stayId: () => stayId,
        check: async () => undefined,
        stored: async () => undefined,
        loaded: Promise.resolve().then(() => void (userId === undefined && switchTo('ada'))),
      },
      storage,
      time,
      limit: 3,
      own,
    });
  return {
    time,
    sent,
    storage,
    open,
    subscribe,
    documents: () => sent.map(({ document }) => document),
    respond: (...next: (object | Error)[]) => void responses.push(...next),
    switchTo,
  };
}

/** The same with an opened queue. */
function opened(storage?: Storage) {
  const world = createWorld(storage);
  const queue = world.open();
  /** The outcomes of these writes, all added at once. */
  const outcomes = (...writes: Write[]) => Promise.all(writes.map((write) => outcomeOf(queue.add(write))));
  return { ...world, queue, outcomes };
}

/** The storage of a page that has sent this write and is closed without a response. */
async function leftBehind(write: Write) {
  const { queue, storage } = opened();
  await settled();
  void outcomeOf(queue.add(write));
  await settled();
  queue.close();
  return storage;
}

it('accepts writes in order while the stored session is still being read, and none once it is closed', async () => {
  const { open, respond, switchTo, subscribe, sent } = createWorld();
  switchTo(undefined, true);
  const queue = open();
  respond({ createTask: task('7') }, { createTask: task('8') });
  const first = outcomeOf(queue.add(create('first')));
  const second = new Promise((resolve) => {
    subscribe(() => resolve(outcomeOf(queue.add(create('second')))));
  });
  expect(await Promise.all([first, second])).toEqual(['done', 'done']);
  expect(sent.map(({ variables }) => variables['idempotencyKey'])).toEqual(['first', 'second']);
  queue.close();
  expect(await Promise.race([outcomeOf(queue.add(create('late'))), settled()])).toBe('SIGNED_OUT');
});

it('sends one write at a time; later writes of a new task use its id from the server, or fail if it was rejected', async () => {
  const { queue, outcomes, respond, sent } = opened();
  respond({ createTask: task('7') }, { updateTask: task('7') }, { deleteTask: '7' });
  const local = localIdOf('k');
  expect(await outcomes(create('k'), update(local), remove(local))).toEqual(['done', 'done', 'done']);
  expect(sent.map(({ document, variables }) => [document, variables['id']])).toEqual([
    [CREATE_TASK, undefined],
    [UPDATE_TASK, '7'],
    [DELETE_TASK, '7'],
  ]);
  respond({ deleteTask: '7' }, error('BAD_USER_INPUT'));
  expect(await outcomeOf(queue.add(remove(local)))).toBe('done');
  expect(await outcomeOf(queue.add(create('refused')))).toBe('BAD_USER_INPUT');
  expect(await outcomeOf(queue.add(update(localIdOf('refused'))))).toBe('NOT_CREATED');
});

describe('a write with ifVersion', () => {
  const versions = ({ sent }: ReturnType<typeof createWorld>) => sent.map(({ variables }) => variables['ifVersion']);
  const made = (version: number) => ({ updateTask: task('7', { version }) });

  const first = update('7', { key: 'first', ifVersion: 3 });
  const next = update('7', { ifVersion: 3 });
  const local = localIdOf('k');

  it.each<[string, Write[], (object | Error)[], string[], (number | null | undefined)[]]>([
    [
      'expects the version that preceding writes have created',
      [first, next, remove('7', { ifVersion: 3 })],
      [made(4), made(5), { deleteTask: '7' }],
      ['done', 'done', 'done'],
      [3, 4, 5],
    ],
    [
      'expects the first version of a task that was just created',
      [create('k'), update(local, { ifVersion: 0 })],
      [{ createTask: task('7') }, made(2)],
      ['done', 'done'],
      [undefined, 1],
    ],
    [
      'fails when another page has created a version in between',
      [update('7', { key: 'first' }), next],
      [made(5), error('PRECONDITION_FAILED')],
      ['done', 'PRECONDITION_FAILED'],
      [null, 3],
    ],
  ])('%s', async (_what, writes, responses, outcomes, expected) => {
    const world = opened();
    world.respond(...responses);
    expect(await world.outcomes(...writes)).toEqual(outcomes);
    expect(versions(world)).toEqual(expected);
  });
});

it.each([
  ['a proxy refuses requests', true, '<html>'],
  [
    'a gateway of another version does not trust their documents',
    false,
    JSON.stringify({ errors: [{ message: 'Only trusted documents run here.', extensions: { code: 'FORBIDDEN' } }] }),
  ],
])('keeps all writes while %s', async (_what, mayBeDone, body) => {
  const { queue, respond, storage } = opened();
  const fetch = async () => new Response(body, { status: 403 });
  const post = createPost({ url: 'http://taskmesh.test', fetch, timeoutMs: 1_000 });
  respond(await post(DELETE_TASK, { id: '7' }).catch((refusal: Error) => refusal));
  for (const key of ['a', 'b', 'c']) void outcomeOf(queue.add(create(key)));
  await settled();
  expect(queue.pending()).toHaveLength(3);
  const stored = JSON.parse(String(await storage.getItem(KEY))) as Write[];
  expect(stored.map(({ key, sentAt }) => [key, sentAt !== undefined])).toEqual([
    ['a', mayBeDone],
    ['b', false],
    ['c', false],
  ]);
});

it.each([
  ['that is already listening', false],
  ['that listens only later', true],
])('reports a rejected write of a closed page to a page %s', async (_what, isLate) => {
  const storage = await leftBehind(update('7'));
  const second = createWorld(storage);
  second.respond(error('NOT_FOUND'), error('BAD_USER_INPUT'));
  const again = second.open();
  const refused: unknown[] = [];
  const listener = { onPending: () => {}, onDone: () => {} };
  again.subscribe(listener);
  if (isLate) await settled();
  again.subscribe({ ...listener, onRefused: (write, { code }) => refused.push([write, code]) });
  await settled();
  expect(refused).toEqual([[expect.objectContaining({ taskId: '7', input: { title: 'renamed' } }), 'NOT_FOUND']]);
  // A write whose caller is waiting rejects instead.
  expect(await outcomeOf(again.add(create('k')))).toBe('BAD_USER_INPUT');
  expect(refused).toHaveLength(1);
});

it('does not report a rejected write to another user', async () => {
  const { open, storage, respond, switchTo } = createWorld();
  await storage.setItem(KEY, JSON.stringify([update('7')]));
  respond(error('NOT_FOUND'));
  const queue = open();
  await settled();
  expect(queue.pending()).toEqual([]);
  switchTo('eve');
  const onRefused = jest.fn();
  queue.subscribe({ onPending: () => {}, onDone: () => {}, onRefused });
  await settled();
  expect(onRefused).not.toHaveBeenCalled();
});

it('accepts no more than its limit', async () => {
  const { queue } = opened();
  for (const key of ['a', 'b', 'c']) void queue.add(create(key));
  expect(await outcomeOf(queue.add(create('d')))).toBe('QUEUE_FULL');
  expect(queue.pending()).toHaveLength(3);
});

it('retries with growing pauses, not before the server permits it, and at once after wake()', async () => {
  const { queue, time, respond, sent } = opened();
  respond(error('RATE_LIMITED', 5_000));
  void queue.add(create('k'));
  await time.pass(4_900);
  queue.wake();
  await settled();
  expect(sent).toHaveLength(1);
  await time.pass(60_000);
  const tries = sent.length;
  expect(tries).toBeGreaterThan(4);
  expect(tries).toBeLessThan(15);
  respond({ createTask: task('7') });
  queue.wake();
  await settled();
  expect(sent).toHaveLength(tries + 1);
  expect(queue.pending()).toEqual([]);
});

describe('a write whose response was lost', () => {
  const resent = async (write: Write, ...next: (object | Error)[]) => {
    const world = createWorld();
    world.respond(error('NETWORK'), ...next);
    const outcome = outcomeOf(world.open().add(write));
    await world.time.pass(1_000);
    return { outcome: await Promise.race([outcome, 'waits']), ...world };
  };

  const edit = update('7', { ifVersion: 1, input: { title: 'renamed', dueDate: '2026-01-01T01:00:00+01:00' } });
  const mine = task('7', { title: 'renamed', dueDate: '2026-01-01T00:00:00.000Z' });
  const [conflict, notFound, stale] = [error('CONFLICT'), error('NOT_FOUND'), error('PRECONDITION_FAILED')];

  it.each<[what: string, expected: string, write: Write, next: (object | Error)[]]>([
    ['is repeated with the same key', 'done', create('k'), [error('CONFLICT', 1_000), { createTask: task('7') }]],
    ['is rejected for good by a limit', 'CONFLICT', create('k'), [conflict]],
    ['accepts NOT_FOUND for a delete', 'done', remove('7'), [notFound]],
    ['does not accept NOT_FOUND for an update', 'NOT_FOUND', update('7'), [notFound]],
    ['accepts a failed precondition if the task already has the new values', 'done', edit, [stale, { task: mine }]],
    ...[task('7', { title: 'by another' }), { ...mine, dueDate: null }, null].map(
      (found): [string, string, Write, object[]] => [
        'does not accept it if the task has other values',
        'PRECONDITION_FAILED',
        edit,
        [stale, { task: found }],
      ],
    ),
    ['stays pending when the task cannot be read', 'waits', edit, [stale, error('INTERNAL_SERVER_ERROR')]],
  ])('%s: %s', async (_what, expected, write, next) => {
    const { outcome, sent, documents } = await resent(write, ...next);
    expect(outcome).toBe(expected);
    if (write === edit) expect(documents().slice(0, 3)).toEqual([UPDATE_TASK, UPDATE_TASK, READ_TASK]);
    if (write.kind === 'create')
      expect(sent.map(({ variables }) => variables['idempotencyKey'])).toEqual(sent.map(() => 'k'));
  });

  it('does not accept these errors on the first attempt', async () => {
    for (const [write, refusal] of [
      [remove('7'), notFound],
      [edit, stale],
      [create('k'), conflict],
    ] as const) {
      const { open, respond } = createWorld();
      respond(refusal);
      expect(await outcomeOf(open().add(write))).toBe(refusal.code);
    }
  });

  it.each([
    ['the server has forgotten the key', DAY_MS],
    ['a clock that was far ahead has been set', -DAY_MS],
  ])('is not repeated after %s', async (_what, ms) => {
    const storage = await leftBehind(create('k'));
    expect(await storage.getItem(KEY)).toContain('sentAt');
    const later = createWorld(storage);
    later.respond({ createTask: task('8') });
    await later.time.pass(ms);
    const again = later.open();
    await settled();
    expect(later.sent).toEqual([]);
    expect(again.pending()).toEqual([]);
  });
});

describe('a create that waits for a day without a network', () => {
  const setOnline = (value: boolean) => Object.defineProperty(navigator, 'onLine', { value, configurable: true });
  afterEach(() => Reflect.deleteProperty(navigator, 'onLine'));

  it.each([
    ['is sent if it has never left the device', false, 'done'],
    ['is rejected if it may have been sent before', true, 'OUTCOME_UNKNOWN'],
  ])('%s', async (_what, isOnline, expected) => {
    const { queue, time, respond } = opened();
    setOnline(isOnline);
    const outcome = outcomeOf(queue.add(create('k')));
    await settled();
    setOnline(false);
    await time.pass(DAY_MS);
    respond({ createTask: task('7') });
    queue.wake();
    expect(await outcome).toBe(expected);
  });
});

it('stores writes only after the other page that owns the stored writes is closed', async () => {
  const storage = createMemoryStorage();
  const { promise, resolve } = Promise.withResolvers<() => void>();
  const second = createWorld(storage).open(() => promise);
  void outcomeOf(second.add(create('k')));
  await settled();
  expect([second.isStored(), await storage.getItem(KEY)]).toEqual([false, null]);
  resolve(() => undefined);
  await settled();
  expect([second.isStored(), await storage.getItem(KEY)]).toEqual([true, expect.stringContaining('"k"')]);
});

it('leaves the storage to the next owner once it is closed', async () => {
  let isOwned = true;
  const world = createWorld();
  const queue = world.open(async () => () => void (isOwned = false));
  await settled();
  void outcomeOf(queue.add(create('k')));
  await settled();
  queue.close();
  await settled();
  expect(isOwned).toBe(false);
  await world.storage.setItem(KEY, 'of the next owner');
  queue.confirm('k', { id: '7', task: null });
  await settled();
  expect(await world.storage.getItem(KEY)).toBe('of the next owner');
});

it('rejects a write that cannot be stored', async () => {
  const { queue, sent } = opened(createBrokenStorage('setItem'));
  await settled();
  expect(await outcomeOf(queue.add(create('k')))).toBe('STORAGE');
  expect(sent).toEqual([]);
});

it('does not send a write if another user signs in while it is being stored', async () => {
  const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
  let isBlocked = false;
  const storage = createTestStorage((operation) => (operation === 'setItem' && isBlocked ? blocked : undefined));
  const { queue, switchTo, sent } = opened(storage);
  await settled();
  isBlocked = true;
  const outcome = outcomeOf(queue.add(create('of ada')));
  await settled();
  switchTo('eve');
  expect(await outcome).toBe('SIGNED_OUT');
  unblock();
  await settled();
  expect(sent).toEqual([]);
});

// When even a fresh token is rejected, the session may just have ended.
it.each(['SIGNED_OUT', 'UNAUTHENTICATED'])('waits for the same user after %s', async (code) => {
  const { queue, switchTo, respond, time, sent } = opened();
  respond(error(code));
  const outcome = outcomeOf(queue.add(create('k')));
  await settled();
  switchTo(null);
  await time.pass(100_000);
  expect(sent).toHaveLength(1);
  respond({ createTask: task('1') });
  switchTo('ada');
  expect(await outcome).toBe('done');
});

it('continues with those of its stored writes that no other page has taken over, and with those it could not store', async () => {
  let isFull = false;
  const storage = createTestStorage((operation) => {
    if (operation === 'setItem' && isFull) throw new Error('full');
  });
  const { queue, switchTo, respond, sent } = opened(storage);
  await settled();
  for (const key of ['taken over', 'stored', 'not stored']) {
    isFull = key === 'not stored';
    void outcomeOf(queue.add(create(key)));
    await settled();
  }
  isFull = false;
  switchTo(null);
  await settled();
  const [, stored] = JSON.parse(String(await storage.getItem(KEY))) as Write[];
  await storage.setItem(KEY, JSON.stringify([stored]));
  respond({ createTask: task('1') }, { createTask: task('2') });
  switchTo('ada');
  await settled();
  expect(sent.map(({ variables }) => variables['idempotencyKey'])).toEqual(['taken over', 'stored', 'not stored']);
  expect(await storage.getItem(KEY)).toBeNull();
});

it.each([
  ['continues with a write that is stored', 'done', async () => () => {}],
  ['rejects a write that is not stored', 'SIGNED_OUT', () => new Promise<never>(() => {})],
] as const)('%s when its user has signed in elsewhere', async (_what, expected, own) => {
  const { open, switchTo, respond } = createWorld();
  const queue = open(own);
  await settled();
  const outcome = outcomeOf(queue.add(create('k')));
  await settled();
  respond({ createTask: task('1') });
  switchTo('ada', false, 'ada 2');
  expect(await outcome).toBe(expected);
});

it('does not wait for the previous user’s write before sending a write or reading a list', async () => {
  const { queue, switchTo, respond } = opened();
  respond(new Promise(() => {}), { createTask: task('2') });
  void outcomeOf(queue.add(create('k')));
  await settled();
  switchTo('eve');
  expect(await outcomeOf(queue.add(create('of eve')))).toBe('done');
  expect(await queue.hold()).toBeInstanceOf(Function);
});

it('sends writes that it does not store even if the storage cannot be read', async () => {
  const { open, respond } = createWorld(createBrokenStorage('getItem'));
  respond({ createTask: task('7') });
  expect(await outcomeOf(open(() => new Promise(() => {})).add(create('k')))).toBe('done');
});

it('completes a write that the feed confirms, even if its response fails', async () => {
  const { queue, time, sent } = opened();
  const outcome = outcomeOf(queue.add(create('k')));
  await settled();
  queue.confirm('k', { id: '7', task: null });
  expect(await outcome).toBe('done');
  await time.pass(100_000);
  expect(sent).toHaveLength(1);
});

it('reports that the stored writes of a user who signs out could not be removed', async () => {
  const { queue, switchTo } = opened(createBrokenStorage('removeItem'));
  await settled();
  switchTo(null, true);
  await expect(queue.stored()).rejects.toThrow('broken');
});

it.each([
  '{',
  '{}',
  '5',
  '"text"',
  'null',
  JSON.stringify([
    {},
    5,
    null,
    { kind: 'rename' },
    ...[{ queuedAt: 1e300 }, { input: null }].map((wrong) => ({ ...create('k'), ...wrong })),
  ]),
])('starts empty if the storage has %s', async (stored) => {
  const { open, storage, respond } = createWorld();
  await storage.setItem(KEY, stored);
  const queue = open();
  await settled();
  expect(queue.pending()).toEqual([]);
  respond({ createTask: task('7') });
  expect(await outcomeOf(queue.add(create('k')))).toBe('done');
  await settled();
  expect(await storage.getItem(KEY)).toBeNull();
});
