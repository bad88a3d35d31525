import { createRecordingLog } from '@taskmesh/service/testing';
import type { Notice } from './notices.ts';
import { createRunReports } from './run-reports.ts';
import type { FailingRun } from './run.entities.ts';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-03-10T12:00:00Z');

function createTrial({
  kept,
  ...more
}: { kept?: FailingRun; maxRunMs?: number; isAway?: boolean; isDeaf?: boolean } = {}) {
  const trial = { kept: kept ?? null, isAway: false, isDeaf: false, notices: [] as Notice[], counted: 0, ...more };
  const query = async <Result>(work: () => Result) => {
    if (trial.isAway) throw new Error('the database is away');
    return work();
  };
  const { log, lines: logged } = createRecordingLog();
  const reports = createRunReports({
    repository: {
      find: () => query(() => trial.kept),
      save: (failing) => query(() => (trial.kept = failing)),
      remove: () => query(() => (trial.kept = null)),
    },
    channels: [
      async (notice) => {
        if (trial.isDeaf) throw new Error('the webhook is gone');
        trial.notices.push(notice);
      },
    ],
    metrics: { scheduleFailed: () => void trial.counted++ },
    now: () => NOW,
    log,
    ...more,
  });
  const fail = (isRetried?: () => boolean) => reports.run('backup', () => Promise.reject(new Error('no')), isRetried);
  return Object.assign(trial, { reports, logged, fail, succeed: () => reports.run('backup', async () => undefined) });
}

it('reports a failure again if it was last reported by a clock that was ahead', async () => {
  const ahead = new Date(NOW.getTime() + 365 * DAY_MS);
  const trial = createTrial({ kept: { run: 'backup', since: ahead, notifiedAt: ahead } });
  await trial.fail();
  expect(trial.notices).toEqual([expect.objectContaining({ event: 'failed', at: NOW, since: NOW })]);
  expect(trial.kept).toEqual({ run: 'backup', since: NOW, notifiedAt: NOW });
  await trial.fail();
  expect(trial.notices).toHaveLength(1);
});

it('reports a run that never ends, and stops waiting for it, but neither counts nor reports a failure that is retried', async () => {
  const trial = createTrial();
  await trial.fail(() => true);
  await trial.succeed();
  expect([trial.counted, trial.notices, trial.kept]).toEqual([0, [], null]);
  const { reports, notices } = createTrial({ maxRunMs: 20 });
  expect(await reports.run('backup', () => new Promise(() => undefined))).toBe(false);
  expect(notices).toEqual([expect.objectContaining({ event: 'failed', message: 'It has not ended in time.' })]);
});

it('reports each failure and recovery once, even if the database was away when the run failed', async () => {
  const trial = createTrial();
  const events = () => trial.notices.map(({ event }) => event);
  for (const isSaved of [false, true]) {
    trial.isAway = true;
    await trial.fail();
    await trial.fail();
    expect(events()).toEqual(['failed']);
    trial.isAway = false;
    if (isSaved) await trial.fail();
    await trial.succeed();
    await trial.succeed();
    expect([events(), trial.kept]).toEqual([['failed', 'recovered'], null]);
    trial.notices.length = 0;
  }
});

it.each([
  ['succeeded', ['failed', 'recovered', 'failed', 'recovered']],
  ['failed', ['failed', 'recovered']],
])('leaves a failure that it could not save to another instance whose run then %s', async (outcome, events) => {
  const trial = createTrial({ isAway: true });
  await trial.fail();
  trial.isAway = false;
  if (outcome === 'failed') trial.kept = { run: 'backup', since: NOW, notifiedAt: NOW };
  await trial.reports.forget('backup');
  await trial.fail();
  await trial.succeed();
  expect([trial.notices.map(({ event }) => event), trial.kept]).toEqual([events, null]);
});

it('reports a failure again if no one could be reached, and notes a success even then', async () => {
  const trial = createTrial({ isDeaf: true });
  await trial.fail();
  const line = { level: 'error', msg: 'operators not notified', run: 'backup' };
  expect(trial.logged).toContainEqual(expect.objectContaining(line));
  trial.isDeaf = false;
  await trial.fail();
  await trial.fail();
  expect(trial.notices).toEqual([expect.objectContaining({ event: 'failed' })]);
  trial.isDeaf = true;
  await trial.succeed();
  expect(trial.kept).toBeNull();
});
