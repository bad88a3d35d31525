/* eslint-disable no-console -- the figures are what the test is for */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HARD_ARCHIVES, KEY } from '../archives/hard-archives.ts';
import { startLimitedService, type LimitedService } from './limited-service.ts';

/** All that a restore may take, the kernel says: with a byte more, a process ends. */
export function describeLimitedMemory(which: RegExp) {
  const archives = HARD_ARCHIVES.filter(({ what }) => which.test(what));
  let service: LimitedService | undefined;
  beforeAll(async () => {
    service = await startLimitedService([KEY]);
    if (!service) console.info('Skipped: this machine has no groups of processes with a limit on memory.');
  }, 180_000);
  afterAll(() => service?.close());

  describe('a service that may have 128 MiB over what it has when it is idle', () => {
    it.each(archives)(
      'survives $what',
      async ({ what, suffix = '', bytes, isRestored }) => {
        if (!service) return;
        const file = `hard.tar.gz${suffix}`;
        await writeFile(join(service.fixture.config.backupsDir, file), await bytes());
        service.takeWorstMib();
        const { outcome, message } = await service.restore(file);
        console.info(`${what}: ${Math.round(service.takeWorstMib())} MiB, ${outcome}`);
        expect([outcome === 'RESTORED', message]).toEqual([isRestored, expect.any(String)]);
        expect([service.kills(), service.isAlive()]).toEqual([0, true]);
      },
      600_000,
    );

    it('makes an archive of what was restored last, and of a row that is as large as it may be', async () => {
      if (!service) return;
      await service.fixture.tasks.query(`insert into tasks values (gen_random_uuid(), repeat('wide', 15000000))`);
      service.takeWorstMib();
      expect(await service.create()).toMatch(/^taskmesh-/);
      console.info(`making an archive: ${Math.round(service.takeWorstMib())} MiB`);
      expect([service.kills(), service.isAlive()]).toEqual([0, true]);
    }, 600_000);
  });
}
