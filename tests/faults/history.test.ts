import { PROTOCOLS } from '../feed/streams/protocols.ts';
import { EMPTY_LIST, type Reading, type StreamedChange } from '../feed/streams/stream.ts';
import { contradictions, type Fault, type History } from './history.ts';
import type { Write } from './write.ts';

const OWNER = 'ada-id';
const task = (id: string, title: string, version: number, ownerId = OWNER) => ({ id, ownerId, title, version });

const CHANGES: Pick<StreamedChange, 'kind' | 'task' | 'previous'>[] = [
  { kind: 'INSERT', task: task('a', 'one', 1), previous: null },
  { kind: 'UPDATE', task: task('a', 'two', 2), previous: task('a', 'one', 1) },
  { kind: 'INSERT', task: task('b', 'three', 1), previous: null },
  { kind: 'UPDATE', task: task('b', 'maybe', 2), previous: task('b', 'three', 1) },
  { kind: 'DELETE', task: task('a', 'two', 2), previous: task('a', 'two', 2) },
  { kind: 'INSERT', task: task('c', 'four', 1), previous: null },
];

/** Two writers: one of a and c, the other of b, whose update never gets a response. */
const WRITES: Write[] = [
  { kind: 'INSERT', title: 'one', taskId: 'a', outcome: 'confirmed', sentAt: 1, answeredAt: 2 },
  { kind: 'UPDATE', title: 'two', taskId: 'a', outcome: 'confirmed', sentAt: 3, answeredAt: 4 },
  { kind: 'INSERT', title: 'three', taskId: 'b', outcome: 'confirmed', sentAt: 1, answeredAt: 5 },
  { kind: 'UPDATE', title: 'maybe', taskId: 'b', outcome: 'unknown', sentAt: 6, answeredAt: Infinity },
  { kind: 'UPDATE', title: 'never', taskId: 'a', outcome: 'denied', sentAt: 7, answeredAt: 8 },
  { kind: 'DELETE', taskId: 'a', outcome: 'confirmed', sentAt: 9, answeredAt: 10 },
  { kind: 'INSERT', title: 'four', taskId: 'c', outcome: 'confirmed', sentAt: 11, answeredAt: 12 },
];

const numbered = (changes: typeof CHANGES) => changes.map((change, index) => ({ ...change, sequence: index + 1 }));

type Mutation = (changes: StreamedChange[]) => StreamedChange[];

/** A valid history of streams of every protocol, except for a change to one of them; channels have no sequences. */
function historyWith(protocol: string, mutate: Mutation): History {
  const streams = PROTOCOLS.map(({ protocol: name }): [string, Reading[]] => {
    const changes = numbered(CHANGES).map((change) => ({
      ...change,
      seenAt: 0,
      sequence: name.startsWith('channel') ? undefined : change.sequence,
    }));
    return [name, [{ list: EMPTY_LIST, changes: name === protocol ? mutate(changes) : changes }]];
  });
  const tasks = new Map([
    ['b', 'maybe'],
    ['c', 'four'],
  ]);
  return { owner: 'ada', ownerId: OWNER, writes: WRITES, streams: new Map(streams), tasks };
}

const renumbered = (changes: StreamedChange[]) =>
  changes.map((change, index) => ({ ...change, sequence: change.sequence === undefined ? undefined : index + 1 }));

const swapped =
  (index: number): Mutation =>
  (changes) =>
    changes.toSpliced(index, 2, ...changes.slice(index, index + 2).toReversed());

const MUTATIONS: Record<string, [Mutation, Fault]> = {
  'a lost change': [(changes) => changes.toSpliced(1, 1), 'lost'],
  'a lost last change': [(changes) => changes.slice(0, -1), 'lost'],
  'a lost change without a confirmation': [(changes) => changes.toSpliced(3, 1), 'lost'],
  'a change twice': [(changes) => changes.toSpliced(1, 0, ...changes.slice(1, 2)), 'duplicated'],
  'a change again, much later': [(changes) => [...changes, ...changes.slice(1, 2)], 'duplicated'],
  'two changes of one task swapped': [swapped(0), 'reordered'],
  'changes of two tasks swapped': [swapped(4), 'reordered'],
  'a change of somebody else': [
    (changes) => [
      ...changes,
      {
        kind: 'INSERT',
        task: task('x', 'theirs', 1, 'bob-id'),
        previous: null,
        seenAt: 0,
        sequence: changes[0]?.sequence && 7,
      },
    ],
    'foreign',
  ],
  'a change that was denied': [
    (changes) => [
      ...changes.slice(0, 4),
      {
        kind: 'UPDATE',
        task: task('a', 'never', 3),
        previous: task('a', 'two', 2),
        seenAt: 0,
        sequence: changes[0]?.sequence && 5,
      },
    ],
    'foreign',
  ],
};

describe.each(PROTOCOLS.map(({ protocol }) => protocol))('the history checker over %s', (protocol) => {
  it('accepts a valid history', () => {
    expect(contradictions(historyWith(protocol, (changes) => changes))).toEqual([]);
  });

  it.each(Object.entries(MUTATIONS))('detects %s', (_what, [mutate, fault]) => {
    const found = contradictions(historyWith(protocol, mutate));
    expect(found).toContainEqual({ fault, what: expect.stringContaining(`ada, ${protocol}: `) });
  });
});

describe('the history checker', () => {
  const sound = historyWith('', (changes) => changes);

  it('detects a confirmed write that no stream delivered', () => {
    const gone: Write = {
      kind: 'INSERT',
      title: 'gone',
      taskId: 'd',
      outcome: 'confirmed',
      sentAt: 13,
      answeredAt: 14,
    };
    const found = contradictions({ ...sound, writes: [...WRITES, gone] });
    expect(found.map(({ fault }) => fault)).toEqual(PROTOCOLS.map(() => 'lost'));
  });

  it('detects a change that every stream lost', () => {
    const streams = new Map(
      [...sound.streams].map(([name, readings]) => [
        name,
        readings.map(({ list, changes }) => ({ list, changes: renumbered(changes.toSpliced(3, 1)) })),
      ]),
    );
    const found = contradictions({ ...sound, streams });
    expect(found.map(({ fault }) => fault)).toEqual(PROTOCOLS.map(() => 'different list'));
  });
});

describe('the history checker over streams that may end early', () => {
  const found = (mutate: Mutation) =>
    contradictions({ ...historyWith('sse', mutate), tasks: new Map(), endsEarly: true }).map(({ fault }) => fault);

  it('requires no change after the end of a stream', () => {
    expect(found((changes) => changes.slice(0, 2))).toEqual([]);
    expect(found(() => [])).toEqual([]);
  });

  it('still detects changes that are repeated, out of order, or without a write', () => {
    expect(found((changes) => [...changes.slice(0, 2), ...changes.slice(1, 2)])).toContain('duplicated');
    expect(found((changes) => changes.toSpliced(1, 1))).toContain('reordered');
    expect(found(MUTATIONS['a change that was denied']?.[0] ?? (() => []))).toContain('foreign');
  });
});

describe('the history checker over a restore', () => {
  const RESTORE = { sentAt: 20, answeredAt: 25 };
  /** The archive was made when "one" was there; the restore met one write, whose side is unknown. */
  const writes: Write[] = [
    ...WRITES,
    { kind: 'UPDATE', title: 'beside', taskId: 'c', outcome: 'confirmed', sentAt: 19, answeredAt: 26 },
    { kind: 'UPDATE', title: 'first', taskId: 'a', outcome: 'confirmed', sentAt: 26, answeredAt: 28 },
    { kind: 'UPDATE', title: 'second', taskId: 'a', outcome: 'confirmed', sentAt: 31, answeredAt: 32 },
    { kind: 'DELETE', taskId: 'a', outcome: 'confirmed', sentAt: 33, answeredAt: 34 },
  ];
  const list = { tasks: new Map([['a', { title: 'first', version: 2 }]]), cursor: 'again', readAt: 30 };
  const since: StreamedChange[] = [
    { kind: 'UPDATE', task: task('a', 'second', 3), previous: task('a', 'first', 2), sequence: 2, seenAt: 0 },
    { kind: 'DELETE', task: task('a', 'second', 3), previous: task('a', 'second', 3), sequence: 3, seenAt: 0 },
  ];
  const before: Reading = {
    list: EMPTY_LIST,
    changes: numbered(CHANGES.slice(0, 4)).map((change) => ({ ...change, seenAt: 0 })),
  };
  const found = (...readings: Reading[]) =>
    contradictions({
      owner: 'ada',
      ownerId: OWNER,
      writes,
      restores: [RESTORE],
      streams: new Map([
        ['sound', [before, { list, changes: since }]],
        ['suspect', readings],
      ]),
      tasks: new Map(),
    }).map(({ fault }) => fault);

  it('requires of the old epoch only that what was delivered is correct', () => {
    expect(found(before, { list, changes: since })).toEqual([]);
    expect(found({ ...before, changes: before.changes.slice(0, 1) }, { list, changes: since })).toEqual([]);
    expect(found({ ...before, changes: before.changes.toSpliced(1, 1) }, { list, changes: since })).toContain(
      'reordered',
    );
  });

  it('detects a reader that was not notified of the end', () => {
    expect(found(before)).toEqual(['lost']);
  });

  it('assigns a list to an epoch by its content, not by the request for a restore', () => {
    const again = { sentAt: 40, answeredAt: 45 };
    const reread = (readAt: number): Reading => ({ list: { ...list, readAt }, changes: [] });
    const ends = (...readings: Reading[]) =>
      contradictions({
        owner: 'ada',
        ownerId: OWNER,
        writes: [],
        restores: [RESTORE, again],
        streams: new Map([['suspect', [{ list: EMPTY_LIST, changes: [] }, ...readings]]]),
        tasks: new Map([['a', 'first']]),
      }).map(({ what }) => /restore \d/.exec(what)?.[0]);
    expect(ends(reread(42), reread(46))).toEqual([]);
    expect(ends(reread(46), reread(47))).toEqual(['restore 1']);
    expect(ends(reread(24), reread(30))).toEqual(['restore 2']);
  });

  it('detects a change of the old epoch in the new one', () => {
    const [first] = before.changes;
    if (!first) throw new Error('There is one.');
    expect(found(before, { list, changes: [{ ...first, sequence: undefined }, ...since] })).toContain('foreign');
  });

  it('detects a write confirmed after the restore that was never delivered', () => {
    expect(found(before, { list, changes: since.slice(1) })).toContain('lost');
    expect(found(before, { list, changes: since.slice(0, 1) })).toEqual(['lost', 'lost', 'different list']);
    expect(found(before, { list, changes: [] })).toEqual(['lost', 'lost', 'different list']);
  });
});
