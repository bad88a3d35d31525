import { databaseOf } from '@taskmesh/store';
import { createLog } from '@taskmesh/service';
import { createTestDatabase } from '@taskmesh/testing';
import { createBackupDatabase } from '../src/database.ts';
import { createRunLock } from '../src/run-lock.ts';
import { administer } from './support/test-stores.ts';

it('keeps out who cannot ask for it, because our database takes no more sessions, and no one when it is away', async () => {
  const own = await createTestDatabase('run_lock');
  const name = databaseOf(own.url);
  const log = createLog({ service: 'test', level: 'silent' });
  const [holder, other] = [
    await createBackupDatabase({ url: own.url, log }),
    await createBackupDatabase({ url: own.url, log }),
  ];
  const lockOf = (database: typeof holder) => createRunLock(database, 'alone', 'busy');
  const allowSessions = (may: boolean) => administer(`alter database ${name} allow_connections ${may}`);
  const done: string[] = [];
  try {
    await lockOf(holder).run(0, async () => {
      expect(await other.isUp()).toBe(true); // over a connection that its pool keeps
      await allowSessions(false);
      const outcome = lockOf(other).run(0, async () => void done.push('beside the holder'));
      await expect(outcome).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    });
    await administer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await lockOf(other).run(0, async (mayGoOn) => void done.push(`away, may go on: ${await mayGoOn()}`));
    expect(done).toEqual(['away, may go on: false']);
  } finally {
    await allowSessions(true);
    await Promise.all([holder.close(), other.close()]);
    await own.drop();
  }
});
