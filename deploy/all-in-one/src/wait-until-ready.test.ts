import { eventually } from '@taskmesh/testing';
import { waitUntilReady, type WaitOptions } from './wait-until-ready.ts';

const UNREADY = { ok: false, checks: { keys: true, tasks: false, auth: false, draining: false } };

/** Waits for a report that is ready after so many others. */
function waiting(unready: number, options: Partial<WaitOptions>) {
  const calls: string[][] = [];
  const failed = new Promise<never>(() => undefined);
  const ready = () => (unready-- > 0 ? UNREADY : { ok: true });
  const reportMissing = (missing: string[]) => calls.push(missing);
  return { calls, ready: waitUntilReady({ started: Promise.resolve(), ready, failed, reportMissing, ...options }) };
}

it('waits until everything is ready, and prints what is not only if it takes long, once', async () => {
  const { ready, calls } = waiting(2, {});
  await ready;
  expect(calls).toEqual([]);
  const slow = waiting(3, { reportAfterMs: 0 });
  await slow.ready;
  expect(slow.calls).toEqual([['tasks', 'auth']]);
});

it.each<[string, () => Partial<WaitOptions>]>([
  ['no PostgreSQL', () => ({ failed: Promise.resolve(new Error('no PostgreSQL')) })],
  ['stopped', () => ({ signal: AbortSignal.abort(new Error('stopped')) })],
  ['no schema', () => ({ started: Promise.reject(new Error('no schema')) })],
])('stops waiting after a failure or a signal, with its error: %s', async (message, options) => {
  await expect(waiting(Infinity, options()).ready).rejects.toThrow(message);
});

it('prints what is not ready during a long start, and waits for the end of the start', async () => {
  const start = Promise.withResolvers<void>();
  const { ready, calls } = waiting(1, { started: start.promise, reportAfterMs: 0 });
  void ready.then(() => calls.push(['ready']));
  await eventually(() => expect(calls).toEqual([['tasks', 'auth']]));
  start.resolve();
  await ready;
});
