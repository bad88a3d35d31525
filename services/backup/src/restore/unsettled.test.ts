import { createRestoreService, type RestoreServiceDeps } from './restore.service.ts';
import { LockBusyError } from '../run-lock.ts';
import { UnknownOutcomeError } from './swap-stores.ts';
import { DEFAULT_TIMEOUTS } from '../stall-detection.ts';

it('shows interrupted restores until they are settled', async () => {
  const shown: number[] = [];
  let settle: () => Promise<void> = () => Promise.reject(new Error('a server is away'));
  const restores = createRestoreService({
    lock: { run: () => settle() },
    journal: {
      unfinished: async () => [{ id: 'r', undoes: null }],
      overdue: async () => [],
    },
    metrics: { unsettled: (count: number) => shown.push(count), leftBehind: () => undefined },
    timeouts: DEFAULT_TIMEOUTS,
    now: () => new Date(),
  } as unknown as RestoreServiceDeps);
  await expect(restores.settleInterrupted()).rejects.toThrow('a server is away');
  expect(shown).toEqual([1]);
  settle = () => Promise.reject(new LockBusyError());
  await restores.settleInterrupted();
  settle = async () => undefined;
  await restores.settleInterrupted();
  expect(shown).toEqual([1, 0]);
});

it('shows a restore without an outcome at once, because no one may be able to read of it', async () => {
  const shown: number[] = [];
  const away = () => Promise.reject(new UnknownOutcomeError('backup’s own database is away'));
  const restores = createRestoreService({
    lock: { run: away },
    metrics: { unsettled: (count: number) => shown.push(count), restored: () => undefined },
    log: { error: () => undefined },
    timeouts: DEFAULT_TIMEOUTS,
  } as unknown as RestoreServiceDeps);
  expect(await restores.undo()).toMatchObject({ outcome: 'UNKNOWN' });
  expect(shown).toEqual([1]);
});
