import type { SeenChange } from '../clients/subscriber.ts';
import { contradictions, type History } from './history.ts';

const task = (id: string, title: string, version: number) => ({ id, title, version, completed: false });
const change = (sequence: number, rest: Pick<SeenChange, 'kind' | 'task' | 'previous'>): SeenChange => ({
  cursor: String(sequence),
  sequence,
  ...rest,
});

function soundHistory(): History {
  return {
    owner: 'ada',
    acknowledged: [
      { kind: 'INSERT', taskId: 'a', title: 'one' },
      { kind: 'UPDATE', taskId: 'a', title: 'two' },
      { kind: 'INSERT', taskId: 'b', title: 'three' },
      { kind: 'DELETE', taskId: 'a' },
    ],
    changes: [
      change(1, { kind: 'INSERT', task: task('a', 'one', 1), previous: null }),
      change(2, { kind: 'UPDATE', task: task('a', 'two', 2), previous: task('a', 'one', 1) }),
      change(3, { kind: 'INSERT', task: task('b', 'three', 1), previous: null }),
      change(4, { kind: 'DELETE', task: task('a', 'two', 2), previous: task('a', 'two', 2) }),
    ],
    tasks: new Map([['b', 'three']]),
  };
}

describe('the history checker', () => {
  it('accepts a sound history', () => {
    expect(contradictions(soundHistory())).toEqual([]);
  });

  const theirs = change(5, { kind: 'INSERT', task: task('x', 'theirs', 1), previous: null });
  const mutations: Record<string, (changes: SeenChange[]) => SeenChange[]> = {
    'a lost change': (changes) => changes.toSpliced(1, 1),
    'a lost last change': (changes) => changes.slice(0, -1),
    'a change twice': (changes) => changes.toSpliced(1, 0, ...changes.slice(1, 2)),
    'two changes swapped': (changes) => [
      ...changes.slice(0, 1),
      ...changes.slice(1, 3).toReversed(),
      ...changes.slice(3),
    ],
    'a change of somebody else': (changes) => [...changes, theirs],
  };

  it.each(Object.entries(mutations))('notices %s', (_what, mutate) => {
    const history = soundHistory();
    expect(contradictions({ ...history, changes: mutate(history.changes) })).not.toEqual([]);
  });

  it('notices a confirmed write that is nowhere', () => {
    const history = soundHistory();
    history.acknowledged.push({ kind: 'INSERT', taskId: 'c', title: 'gone' });
    expect(contradictions(history)).not.toEqual([]);
  });
});
