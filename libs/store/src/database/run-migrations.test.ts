import { jest } from '@jest/globals';
import { unavailable } from '@taskmesh/contracts';
import type { Database } from './database.ts';
import { runMigrations } from './run-migrations.ts';

it('says why the server cannot be used, when it ends for want of one', async () => {
  const told = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const ended = jest.spyOn(process, 'exit').mockImplementation((code) => {
    throw new Error(`ended with ${code}`);
  });
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:5432'), { syscall: 'connect' });
  const open = async () => ({ migrate: () => Promise.reject(unavailable(undefined, refused)) }) as unknown as Database; // all that is used
  try {
    const env = { POSTGRES_URL: 'postgres://somebody:secret@10.0.0.1:5432/auth', LOG_LEVEL: 'silent' };
    await expect(runMigrations('auth', open, env)).rejects.toThrow('ended with 1');
    expect(told).toHaveBeenCalledWith('PostgreSQL does not answer: connect ECONNREFUSED 10.0.0.1:5432\n');
  } finally {
    told.mockRestore();
    ended.mockRestore();
  }
});
