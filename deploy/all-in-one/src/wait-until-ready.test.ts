import type { HealthReport } from '@taskmesh/service';
import { waitUntilReady, type WaitOptions } from './wait-until-ready.ts';

const reports =
  (...each: HealthReport[]) =>
  () =>
    each.length > 1 ? (each.shift() as HealthReport) : (each[0] as HealthReport);
const unready = { ok: false, checks: { keys: true, tasks: false, auth: false, draining: false } };

function waiting(options: Partial<WaitOptions>) {
  const calls: string[][] = [];
  const failed = new Promise<never>(() => undefined);
  return {
    calls,
    ready: waitUntilReady({
      ...{
        started: Promise.resolve(),
        ready: reports(unready),
        failed,
        reportMissing: (missing) => calls.push(missing),
      },
      ...options,
    }),
  };
}

it('waits until everything is ready, and prints nothing if that is fast', async () => {
  const { ready, calls } = waiting({ ready: reports(unready, unready, { ok: true }) });
  await ready;
  expect(calls).toEqual([]);
});

it('prints once what is not ready if it takes long', async () => {
  const { ready, calls } = waiting({ ready: reports(unready, unready, unready, { ok: true }), reportAfterMs: 0 });
  await ready;
  expect(calls).toEqual([['tasks', 'auth']]);
});

it('stops waiting after a failure or a signal', async () => {
  await expect(waiting({ failed: Promise.resolve(new Error('no PostgreSQL')) }).ready).rejects.toThrow('no PostgreSQL');
  await expect(waiting({ signal: AbortSignal.abort(new Error('stopped')) }).ready).rejects.toThrow('stopped');
});

it('prints what is not ready during a long start, and waits for the end of the start', async () => {
  const start = Promise.withResolvers<void>();
  const { ready, calls } = waiting({ started: start.promise, ready: reports(unready, { ok: true }), reportAfterMs: 0 });
  const late = new Promise((resolve) => setTimeout(resolve, 200, 'not yet'));
  expect(await Promise.race([ready, late])).toBe('not yet');
  expect(calls).toEqual([['tasks', 'auth']]);
  start.resolve();
  await ready;
});

it('fails if the start fails, with the same error', async () => {
  await expect(waiting({ started: Promise.reject(new Error('no schema')) }).ready).rejects.toThrow('no schema');
});
