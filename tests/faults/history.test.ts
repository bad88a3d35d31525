import { PROTOCOLS } from '../feed/streams/protocols.ts';
import { EMPTY_LIST, type Reading, type StreamedChange } from '../feed/streams/stream.ts';
import { contradictions, type Fault, type History } from './history.ts';
import type { Write } from './write.ts';

const OWNER = 'ada-id';
const task = (id: string, title: string, version: number, ownerId = OWNER) => ({ id, ownerId, title, version });

type Task = ReturnType<typeof task>;
const made = (kind: StreamedChange['kind'], now: Task, previous: Task | null, sequence?: number): StreamedChange => ({
  ...{ kind, task: now, previous, sequence, seenAt: 0 },
});

const CHANGES = [
  made('INSERT', task('a', 'one', 1), null, 1),
  made('UPDATE', task('a', 'two', 2), task('a', 'one', 1), 2),
  made('INSERT', task('b', 'three', 1), null, 3),
  made('UPDATE', task('b', 'maybe', 2), task('b', 'three', 1), 4),
  made('DELETE', task('a', 'two', 2), task('a', 'two', 2), 5),
  made('INSERT', task('c', 'four', 1), null, 6),
];

const write = (kind: Write['kind'], taskId: string, title: string, sentAt: number, answeredAt = sentAt + 1) =>
  ({ kind, taskId, ...(title && { title }), outcome: 'confirmed', sentAt, answeredAt }) as Write;

/** Two writers: one writes tasks a and c, the other b, whose update never gets a response. */
const WRITES: Write[] = [
  write('INSERT', 'a', 'one', 1),
  write('UPDATE', 'a', 'two', 3),
  write('INSERT', 'b', 'three', 1, 5),
  { ...write('UPDATE', 'b', 'maybe', 6, Infinity), outcome: 'unknown' },
  { ...write('UPDATE', 'a', 'never', 7), outcome: 'denied' },
  write('DELETE', 'a', '', 9),
  write('INSERT', 'c', 'four', 11),
];

type Mutation = (changes: StreamedChange[]) => StreamedChange[];

/** A valid history of streams of every protocol, except for a change to one of them; channels have no sequences. */
function historyWith(protocol: string, mutate: Mutation): History {
  const streams = PROTOCOLS.map(({ protocol: name }): [string, Reading[]] => {
    const changes = name.startsWith('channel') ? CHANGES.map((each) => ({ ...each, sequence: undefined })) : CHANGES;
    return [name, [{ list: EMPTY_LIST, changes: name === protocol ? mutate(changes) : changes }]];
  });
  const tasks = new Map(Object.entries({ b: 'maybe', c: 'four' }));
  return { owner: 'ada', ownerId: OWNER, writes: WRITES, streams: new Map(streams), tasks };
}

const renumbered = (changes: StreamedChange[]) =>
  changes.map((change, index) => ({ ...change, sequence: change.sequence === undefined ? undefined : index + 1 }));

const swapped = (changes: StreamedChange[], index: number) =>
  changes.toSpliced(index, 2, ...changes.slice(index, index + 2).toReversed());
const theirs = (sequence?: number) => made('INSERT', task('x', 'theirs', 1, 'bob-id'), null, sequence);
const denied = (sequence?: number) => made('UPDATE', task('a', 'never', 3), task('a', 'two', 2), sequence);

const MUTATIONS: Record<string, [Mutation, Fault]> = {
  'a lost change': [(changes) => changes.toSpliced(1, 1), 'lost'],
  'a lost last change': [(changes) => changes.slice(0, -1), 'lost'],
  'a lost change without a confirmation': [(changes) => changes.toSpliced(3, 1), 'lost'],
  'a change twice': [(changes) => changes.toSpliced(1, 0, ...changes.slice(1, 2)), 'duplicated'],
  'a change again, much later': [(changes) => [...changes, ...changes.slice(1, 2)], 'duplicated'],
  'two changes of one task swapped': [(changes) => swapped(changes, 0), 'reordered'],
  'changes of two tasks swapped': [(changes) => swapped(changes, 4), 'reordered'],
  'a change of somebody else': [(changes) => [...changes, theirs(changes[0]?.sequence && 7)], 'foreign'],
  'a change that was denied': [(changes) => [...changes.slice(0, 4), denied(changes[0]?.sequence && 5)], 'foreign'],
};

// With and without sequences.
describe.each(['graphql-ws', 'channel 2.0.0'])('the history checker over %s', (protocol) => {
  it('accepts a valid history', () => expect(contradictions(historyWith(protocol, (changes) => changes))).toEqual([]));

  it.each(Object.entries(MUTATIONS))('detects %s', (_what, [mutate, fault]) => {
    const found = contradictions(historyWith(protocol, mutate));
    expect(found).toContainEqual({ fault, what: expect.stringContaining(`ada, ${protocol}: `) });
  });
});

it('the history checker detects a confirmed write that no stream delivered, and a change that every stream lost', () => {
  const sound = historyWith('', (changes) => changes);
  const gone = contradictions({ ...sound, writes: [...WRITES, write('INSERT', 'd', 'gone', 13)] });
  expect(gone.map(({ fault }) => fault)).toEqual(PROTOCOLS.map(() => 'lost'));
  const without = ({ list, changes }: Reading) => ({ list, changes: renumbered(changes.toSpliced(3, 1)) });
  const streams = [...sound.streams].map(([name, readings]) => [name, readings.map(without)] as const);
  const found = contradictions({ ...sound, streams: new Map(streams) });
  expect(found.map(({ fault }) => fault)).toEqual(PROTOCOLS.map(() => 'different list'));
});

it.each<[Mutation, Fault[]]>([
  [(changes) => changes.slice(0, 2), []],
  [() => [], []],
  [(changes) => changes.toSpliced(0, 1), ['reordered']],
])('the history checker requires no change after the end of a stream that may end early: %s', (mutate, faults) => {
  const found = contradictions({ ...historyWith('sse', mutate), tasks: new Map(), endsEarly: true });
  expect([...new Set(found.map(({ fault }) => fault))]).toEqual(faults);
});

describe('the history checker over a restore', () => {
  const RESTORE = { sentAt: 20, answeredAt: 25 };
  /** The archive was made when "one" existed. One write overlaps with the restore, so it may belong to either side. */
  const writes: Write[] = [
    ...[...WRITES, write('UPDATE', 'c', 'beside', 19, 26), write('UPDATE', 'a', 'first', 26, 28)],
    ...[write('UPDATE', 'a', 'second', 31), write('DELETE', 'a', '', 33)],
  ];
  const list = { tasks: new Map([['a', { title: 'first', version: 2 }]]), cursor: 'again', readAt: 30 };
  const since = [
    made('UPDATE', task('a', 'second', 3), task('a', 'first', 2), 2),
    made('DELETE', task('a', 'second', 3), task('a', 'second', 3), 3),
  ];
  const before = (changes: StreamedChange[]): Reading => ({ list: EMPTY_LIST, changes });
  const after = (changes: StreamedChange[]): Reading => ({ list, changes });
  const old = CHANGES.slice(0, 4);
  const sound = [before(old), after(since)];
  const mixed = [...CHANGES.slice(0, 1), ...since].map((each) => ({ ...each, sequence: undefined }));

  it.each<[what: string, readings: Reading[], faults: Fault[]]>([
    ['nothing if all is sound', sound, []],
    ['nothing if the end of the old epoch is missing', [before(old.slice(0, 1)), after(since)], []],
    ['a gap in the old epoch', [before(old.toSpliced(1, 1)), after(since)], ['reordered']],
    ['a reader that was not notified of the end', [before(old)], ['lost']],
    ['a change of the old epoch in the new one', [before(old), after(mixed)], ['foreign', 'reordered']],
    ['a confirmed write that was not delivered', [before(old), after(since.slice(1))], ['reordered', 'lost']],
    ['a write after which nothing came', [before(old), after(since.slice(0, 1))], ['lost', 'different list']],
    ['a reader that gets nothing of the new epoch', [before(old), after([])], ['lost', 'different list']],
  ])('detects %s', (_what, readings, faults) => {
    const streams = new Map(Object.entries({ sound, suspect: readings }));
    const history = { owner: 'ada', ownerId: OWNER, writes, restores: [RESTORE], streams, tasks: new Map() };
    expect([...new Set(contradictions(history).map(({ fault }) => fault))]).toEqual(faults);
  });

  it.each<[readAt: number[], restores: string[]]>([
    [[42, 46], []],
    [[46, 47], ['restore 1']],
    [[24, 30], ['restore 2']],
  ])('assigns lists read at %j to epochs by their content, not by the request for a restore', (times, missed) => {
    const reread = times.map((readAt): Reading => ({ list: { ...list, readAt }, changes: [] }));
    const streams = new Map([['suspect', [before([]), ...reread]]]);
    const restores = [RESTORE, { sentAt: 40, answeredAt: 45 }];
    const tasks = new Map([['a', 'first']]);
    const found = contradictions({ owner: 'ada', ownerId: OWNER, writes: [], restores, streams, tasks });
    expect(found.map(({ what }) => /restore \d/.exec(what)?.[0])).toEqual(missed);
  });
});
