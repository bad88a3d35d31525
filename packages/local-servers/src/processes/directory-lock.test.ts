import { join } from 'node:path';
import { runScript, temporaryDir } from '../testing.ts';
import { acquireLock } from './directory-lock.ts';

const dir = temporaryDir('lock');
afterAll(dir.remove);

describe('a lock', () => {
  it('is refused while another one holds it, with the process that does and what to do', async () => {
    const file = join(dir.path, 'held.lock');
    const lock = await acquireLock(file, 'This folder is in use');
    await expect(acquireLock(file, 'This folder is in use')).rejects.toThrow(
      `This folder is in use (process ${process.pid}). Stop it, or use another folder.`,
    );
    lock.release();
    const next = await acquireLock(file, 'This folder is in use');
    next.release();
  });

  it('is free again when its holder was killed', async () => {
    const file = join(dir.path, 'killed.lock');
    const holder = runScript(`
      import { acquireLock } from '$src/processes/directory-lock.ts';
      await acquireLock(${JSON.stringify(file)}, 'in use');
      console.log('"held"');
      setInterval(() => undefined, 1_000);
    `);
    expect(await holder.nextLine()).toBe('held');
    await expect(acquireLock(file, 'In use')).rejects.toThrow(`In use (process ${holder.pid}).`);
    await holder.killAndWait();
    const lock = await acquireLock(file, 'In use');
    lock.release();
  });

  it('is waited for when its holder says that it is about to stop', async () => {
    const file = join(dir.path, 'stopping.lock');
    const lock = await acquireLock(file, 'In use');
    lock.announceRelease();
    const next = acquireLock(file, 'In use');
    setTimeout(() => lock.release(), 2_000); // longer than anybody waits for one who goes on
    (await next).release();
  });
});
