import { eventually } from '@taskmesh/testing';
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

it('waits until everything is ready, and prints what is not only if it takes long, once', async () => {
  const { ready, calls } = waiting({ ready: reports(unready, unready, { ok: true }) });
  await ready;
  expect(calls).toEqual([]);
  const slow = waiting({ ready: reports(unready, unready, unready, { ok: true }), reportAfterMs: 0 });
  await slow.ready;
  expect(slow.calls).toEqual([['tasks', 'auth']]);
});

it.each<[string, () => Partial<WaitOptions>]>([
  ['no PostgreSQL', () => ({ failed: Promise.resolve(new Error('no PostgreSQL')) })],
  ['stopped', () => ({ signal: AbortSignal.abort(new Error('stopped')) })],
  ['no schema', () => ({ started: Promise.reject(new Error('no schema')) })],
])('stops waiting after a failure or a signal, with its error: %s', async (message, options) => {
  await expect(waiting(options()).ready).rejects.toThrow(message);
});

it('prints what is not ready during a long start, and waits for the end of the start', async () => {
  const start = Promise.withResolvers<void>();
  const { ready, calls } = waiting({ started: start.promise, ready: reports(unready, { ok: true }), reportAfterMs: 0 });
  void ready.then(() => calls.push(['ready']));
  await eventually(() => expect(calls).toEqual([['tasks', 'auth']]));
  start.resolve();
  await ready;
});
