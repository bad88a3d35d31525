import type { TasksInternal } from '@taskmesh/internal-api';
import { numberFromEnv } from '@taskmesh/testing';
import { runSchedules } from './run-schedules.ts';
import { createSchedule } from './schedule.ts';
import { simulate } from './simulate.ts';
import type { Tamper } from './world.ts';

/** `TASKMESH_SEED=81 TASKMESH_SCHEDULES=1` repeats a single schedule. */
const firstSeed = numberFromEnv('TASKMESH_SEED', 1);
const count = numberFromEnv('TASKMESH_SCHEDULES', 600);

describe('the simulated world', () => {
  it('loses, repeats, reorders and leaks nothing, under any faults', async () => {
    const { received, subscriptions } = await runSchedules(firstSeed, count);
    // The schedules had enough work to prove it.
    expect(received).toBeGreaterThan(count * 50);
    expect(subscriptions).toBeGreaterThan(count * 6);
  }, 300_000);

  it('is reproducible from its seed', async () => {
    const schedule = createSchedule(firstSeed);
    expect(await simulate(schedule)).toEqual(await simulate(schedule));
  });

  type Changes = Awaited<ReturnType<TasksInternal['changesAfter']>>['changes'];
  /** Changes every page of the feed. */
  const onPages = (change: (changes: Changes) => Changes): Tamper => ({
    tasks: (tasks) => ({
      ...tasks,
      async changesAfter(...asked) {
        const page = await tasks.changesAfter(...asked);
        return { ...page, changes: change(page.changes) };
      },
    }),
  });

  const renumbered = (change: Changes[number]) => ({
    ...change,
    sequence: change.sequence - (change.sequence > 3 ? 1 : 0),
  });
  const tampered: (Tamper & { what: string; finds: RegExp })[] = [
    {
      what: 'a page that lacks a change',
      ...onPages((changes) => changes.map(renumbered).toSpliced(2, 1)),
      finds: /lost|different list|reordered/,
    },
    {
      what: 'a change with another owner’s task',
      ...onPages((changes) => changes.map(({ task, ...rest }) => ({ ...rest, task: { ...task, ownerId: task.id } }))),
      finds: /foreign/,
    },
    {
      what: 'a store that never announces its restore',
      tasks: (tasks) => ({ ...tasks, heads: async (owners) => ({ ...(await tasks.heads(owners)), epoch: 1 }) }),
      finds: /lost/,
    },
    {
      what: 'an owner that is closed only when its tasks are deleted',
      meanings: (meanings, store) => ({
        ...meanings,
        'owners-close'(...values) {
          const closed = meanings['owners-close']?.(...values) ?? [];
          for (const { owner_id } of closed) store.current().closed.delete(String(owner_id));
          return closed;
        },
        'owners-delete-tasks': (_part: number, limit: number, _now: Date, owner: string) => [
          { count: store.remove(owner, limit) },
        ],
        'owners-finish'(...values) {
          const done = meanings['owners-finish']?.(...values) ?? [];
          for (const { owner_id } of done) store.current().closed.add(String(owner_id));
          return done;
        },
      }),
      finds: /although the account was deleted|does not end with a DELETE of each task/,
    },
    {
      what: 'changes that are erased before they are published',
      meanings: (meanings, store) => ({
        ...meanings,
        'owners-erase-changes'(owner: string) {
          if (store.living(owner).length > 0) return [{ count: 0 }];
          store.forget(owner, 0);
          for (const row of store.current().rows) if (row.owner_id === owner) row.isPublished = true; // the row is erased
          return [{ count: 0 }];
        },
      }),
      finds: /was erased and never published/,
    },
    {
      what: 'a place in the account log that moves on without its owner',
      meanings: (meanings, store) => ({
        ...meanings,
        'owners-close'(fromEpoch: number, from: number, epoch: number, sequence: number, owner: string) {
          if (sequence % 2 === 1)
            return meanings['owners-close']?.(...([fromEpoch, from, epoch, sequence, owner] as never[])) ?? [];
          store.current().position = { epoch, sequence };
          return [{ owner_id: owner }];
        },
      }),
      finds: /although the account was deleted/,
    },
  ];
  it.each(tampered)('detects $what', async ({ finds, ...tamper }) => {
    let findings: string[] = [];
    for (let seed = 1; findings.length === 0 && seed <= 100; seed++)
      ({ findings } = await simulate(createSchedule(seed), tamper));
    expect(findings.join('\n')).toMatch(finds);
  });

  it('reports the seed and the shortest schedule that finds something', async () => {
    await expect(runSchedules(1, 100, tampered[0])).rejects.toThrow(/seed \d+ finds[^]*shortest schedule/);
  });
});
