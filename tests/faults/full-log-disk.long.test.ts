import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientOf } from '../contract/client.ts';
import { startProduct, type Product } from '../product.ts';

/** Mounting a small file system needs root. */
const asRoot = process.getuid?.() === 0 ? describe : describe.skip;

asRoot('a full disk under the logs', () => {
  it.each(['start', 'stack'] as const)(
    'neither fails a request nor delays the stop of npm run %s, and is counted in the metrics',
    async (command) => {
      const dataDir = makeTempDir();
      const logs = join(dataDir, 'logs');
      mkdirSync(logs);
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=512k', 'tmpfs', logs]);
      let product: Product | undefined;
      try {
        const running = await startProduct(command, { DATA_DIR: dataDir, LOG_LEVEL: 'debug' });
        product = running;
        const { bavail, bsize } = statfsSync(logs);
        writeFileSync(join(logs, 'filler'), Buffer.alloc(bavail * bsize));
        const client = clientOf(() => running);
        const { token } = await client.signUp();
        expect((await client.call('POST', '/api/tasks', { token, json: { title: 'a task' } })).status).toBe(201);
        expect((await client.call('POST', '/api/backups', { json: {} })).status).toBe(201);
        writeFileSync(join(dataDir, 'backups', 'broken.tar.gz'), 'no archive');
        const restore = await client.call('POST', '/api/backup/restore?file=broken.tar.gz');
        expect(restore.status).toBe(500);
        expect(restore.body).toEqual({ success: false, message: expect.any(String), error: expect.any(String) });
        // The last block of the file still has room for some lines.
        for (let count = 0; count < 50; count += 1) await client.call('POST', '/api/backup/restore?file=broken.tar.gz');
        const metrics = await (await fetch(`${running.adminUrl}/metrics`)).text();
        const lines = Number(/^taskmesh_log_lines_lost_total.* (\d+)$/m.exec(metrics)?.[1]);
        // In a stack, backup logs these refusals, so 0 is possible here.
        expect(lines).toBeGreaterThanOrEqual(command === 'start' ? 1 : 0);
        const begin = performance.now();
        product = undefined;
        await running.stop();
        expect(performance.now() - begin).toBeLessThan(15_000);
      } finally {
        await product?.stop();
        execFileSync('umount', ['--lazy', logs]);
      }
    },
    240_000,
  );
});
