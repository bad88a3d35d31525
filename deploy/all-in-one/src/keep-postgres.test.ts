import { temporaryDir } from '@taskmesh/local-servers/testing';
import { keepPostgres } from './keep-postgres.ts';

const dir = temporaryDir('keep-postgres');

it('aborts its start on a signal', async () => {
  const starting = keepPostgres(dir, () => undefined, AbortSignal.abort());
  await expect(starting).rejects.toThrow('PostgreSQL was stopped before it was ready');
}, 60_000);
