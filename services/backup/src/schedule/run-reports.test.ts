import { createLog } from '@taskmesh/service';
import type { Notice } from './notices.ts';
import { createRunReports } from './run-reports.ts';
import type { FailingRun } from './run.entities.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-10T12:00:00Z');

it('reports a failure again if it was last reported by a clock that was ahead', async () => {
  const ahead = new Date(NOW.getTime() + 365 * DAY_MS);
  let kept: FailingRun = { run: 'backup', since: ahead, notifiedAt: ahead };
  const notices: Notice[] = [];
  const reports = createRunReports({
    repository: {
      find: async () => kept,
      save: async (failing) => void (kept = failing),
      remove: async () => undefined,
    },
    channels: [async (notice) => void notices.push(notice)],
    metrics: { scheduleFailed: () => undefined },
    now: () => NOW,
    log: createLog({ service: 'test', level: 'silent' }),
  });
  const fail = () => reports.run('backup', () => Promise.reject(new Error('no')));
  await fail();
  expect(notices).toEqual([expect.objectContaining({ event: 'failed', at: NOW, since: NOW })]);
  expect(kept).toEqual({ run: 'backup', since: NOW, notifiedAt: NOW });
  await fail();
  expect(notices).toHaveLength(1);
});

it('reports a run that never ends, and stops waiting for it', async () => {
  const notices: Notice[] = [];
  const reports = createRunReports({
    repository: { find: async () => null, save: async () => undefined, remove: async () => undefined },
    channels: [async (notice) => void notices.push(notice)],
    metrics: { scheduleFailed: () => undefined },
    now: () => NOW,
    log: createLog({ service: 'test', level: 'silent' }),
    maxRunMs: 20,
  });
  expect(await reports.run('backup', () => new Promise(() => undefined))).toBe(false);
  expect(notices).toEqual([expect.objectContaining({ event: 'failed', message: 'It has not ended in time.' })]);
});
