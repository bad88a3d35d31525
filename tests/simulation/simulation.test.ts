import type { TasksInternal } from '@taskmesh/internal-api';
import { numberFromEnv } from '../faults/random.ts';
import { runSchedules } from './run-schedules.ts';
import { createSchedule } from './schedule.ts';
import { simulate } from './simulate.ts';

/** `TASKMESH_SEED=81 TASKMESH_SCHEDULES=1` runs one schedule again. */
const firstSeed = numberFromEnv('TASKMESH_SEED', 1);
const count = numberFromEnv('TASKMESH_SCHEDULES', 2_000);

describe('the simulated world', () => {
  it('loses, repeats, reorders and leaks nothing, whatever happens', async () => {
    const { told, subscriptions } = await runSchedules({ firstSeed, count });
    // Not for want of anything to do.
    expect(told).toBeGreaterThan(count * 50);
    expect(subscriptions).toBeGreaterThan(count * 6);
  }, 300_000);

  it('is the same one for the same seed', async () => {
    const schedule = createSchedule(firstSeed);
    expect(await simulate(schedule)).toEqual(await simulate(schedule));
  });

  const tampered = [
    {
      what: 'a page that lacks a change',
      tamper: (tasks: TasksInternal): TasksInternal => ({
        ...tasks,
        async changesAfter(...asked) {
          const page = await tasks.changesAfter(...asked);
          const changes = page.changes.map((change) => ({
            ...change,
            sequence: change.sequence - (change.sequence > 3 ? 1 : 0),
          }));
          return { ...page, changes: changes.filter(({ id }, index) => index !== 2 || id === '') };
        },
      }),
      finds: /lost|different list|reordered/,
    },
    {
      what: 'a change with another owner’s task',
      tamper: (tasks: TasksInternal): TasksInternal => ({
        ...tasks,
        async changesAfter(...asked) {
          const page = await tasks.changesAfter(...asked);
          const changes = page.changes.map((change) => ({
            ...change,
            task: { ...change.task, ownerId: change.task.id },
          }));
          return { ...page, changes };
        },
      }),
      finds: /foreign/,
    },
    {
      what: 'a store that never tells of its restore',
      tamper: (tasks: TasksInternal): TasksInternal => ({
        ...tasks,
        heads: async (owners) => ({ ...(await tasks.heads(owners)), epoch: 1 }),
      }),
      finds: /lost/,
    },
  ];
  it.each(tampered)('shows $what, by a seed and a short schedule', async ({ tamper, finds }) => {
    const running = runSchedules({ firstSeed: 1, count: 50, tamper });
    await expect(running).rejects.toThrow(finds);
    await expect(running).rejects.toThrow(/seed \d+ finds[^]*shortest schedule/);
  });
});
