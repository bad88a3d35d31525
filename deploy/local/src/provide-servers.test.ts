import { temporaryDir } from '@taskmesh/local-servers/testing';
import { existsSync } from 'node:fs';
import { requiredAddress } from '@taskmesh/testing';
import { checkExternalServers, provideServers } from './provide-servers.ts';

const dir = temporaryDir('servers');

const given = {
  POSTGRES_URL: requiredAddress('POSTGRES_URL'),
  REDIS_URL: requiredAddress('REDIS_URL'),
  KAFKA_BROKERS: requiredAddress('KAFKA_BROKERS'),
};
const lines: string[] = [];
const provide = (env: Parameters<typeof provideServers>[0]['env']) =>
  provideServers({ env, dataDir: dir, log: (line) => lines.push(line) });

describe('configured servers', () => {
  it('are used, and keep running after our stop', async () => {
    const { POSTGRES_URL: postgres, REDIS_URL: redis, KAFKA_BROKERS: kafka } = given;
    const servers = await provide(given);
    expect(servers.urls).toEqual({ postgres, redis, kafka });
    expect(servers.started.size).toBe(0);
    await servers.stop();
    await provide(given);
    expect(existsSync(`${dir}/postgres`)).toBe(false);
  });

  it('for mail and archives are reported at the start if they do not respond', async () => {
    const refused = '127.0.0.1:1 does not respond (ECONNREFUSED).';
    const env = { SMTP_URL: 'smtp://127.0.0.1:1', BACKUP_S3_URL: 's3://archives?endpoint=http://127.0.0.1:1' };
    expect(await checkExternalServers(env)).toEqual([
      `SMTP_URL is set, but no mail server works there: ${refused}`,
      `BACKUP_S3_URL is set, but no object storage works there: ${refused}`,
    ]);
    const there = new URL(given.POSTGRES_URL).host;
    expect(await checkExternalServers({ SMTP_URL: `smtp://${there}`, BACKUP_S3_URL: 's3://archives' })).toEqual([]);
  });

  it('are reported if their URL is invalid, without its content', async () => {
    for (const url of ['postgres://ada:a/secret@db:5432/tasks', 'mysql://ada:secret@db/tasks', 'db.example.com']) {
      const refusal = checkExternalServers({ POSTGRES_URL: url });
      await expect(refusal).rejects.toThrow(
        'it has no address: POSTGRES_URL must be postgres://user:password@host:5432',
      );
      await expect(refusal).rejects.not.toThrow('secret');
    }
  });

  it('are reported to lack the database, not to be unavailable, if it is missing', async () => {
    const POSTGRES_URL = Object.assign(new URL(given.POSTGRES_URL), { pathname: '/nowhere' }).href;
    const said = 'it has no such database (POSTGRES_URL): database "nowhere" does not exist. Correct it, or';
    await expect(provide({ ...given, POSTGRES_URL })).rejects.toThrow(said);
  });

  it('stop the servers started so far if one of them fails', async () => {
    const env = { ...given, POSTGRES_URL: undefined, REDIS_URL: 'redis://127.0.0.1:1' };
    lines.length = 0;
    await expect(provide(env)).rejects.toThrow(/REDIS_URL/);
    expect(lines.join()).toContain('PostgreSQL is ready');
    expect(existsSync(`${dir}/postgres/postmaster.pid`)).toBe(false);
  });
});
