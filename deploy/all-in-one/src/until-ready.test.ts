import type { HealthReport } from '@taskmesh/service';
import { untilReady, type WaitOptions } from './until-ready.ts';

const reports =
  (...each: HealthReport[]) =>
  () =>
    each.length > 1 ? (each.shift() as HealthReport) : (each[0] as HealthReport);
const unready = { ok: false, checks: { keys: true, tasks: false, auth: false, draining: false } };

function waiting(options: Partial<WaitOptions>) {
  const told: string[][] = [];
  const failed = new Promise<never>(() => undefined);
  return {
    told,
    ready: untilReady({ ready: reports(unready), failed, tell: (missing) => told.push(missing), ...options }),
  };
}

it('waits until all is there, and tells nothing about what takes no time', async () => {
  const { ready, told } = waiting({ ready: reports(unready, unready, { ok: true }) });
  await ready;
  expect(told).toEqual([]);
});

it('tells once what is missing when it lasts', async () => {
  const { ready, told } = waiting({ ready: reports(unready, unready, unready, { ok: true }), tellAfterMs: 0 });
  await ready;
  expect(told).toEqual([['tasks', 'auth']]);
});

it('waits no longer for what cannot go on, or is to stop', async () => {
  await expect(waiting({ failed: Promise.resolve(new Error('no PostgreSQL')) }).ready).rejects.toThrow('no PostgreSQL');
  await expect(waiting({ signal: AbortSignal.abort(new Error('stopped')) }).ready).rejects.toThrow('stopped');
});
