import { temporaryDir } from '@taskmesh/local-servers/testing';
import { existsSync } from 'node:fs';
import { requiredAddress } from '@taskmesh/testing';
import { checkGivenServers, provideServers } from './provide-servers.ts';

const dir = temporaryDir('servers');
afterAll(dir.remove);

const given = () => ({
  POSTGRES_URL: requiredAddress('POSTGRES_URL'),
  REDIS_URL: requiredAddress('REDIS_URL'),
  KAFKA_BROKERS: requiredAddress('KAFKA_BROKERS'),
});

describe('servers that were given', () => {
  it('are used, and stay when we stop', async () => {
    const env = given();
    const servers = await provideServers({ env, dataDir: dir.path, log: () => undefined });
    expect(servers.urls).toEqual({ postgres: env.POSTGRES_URL, redis: env.REDIS_URL, kafka: env.KAFKA_BROKERS });
    expect(servers.started.size).toBe(0);
    await servers.stop();
    await provideServers({ env, dataDir: dir.path, log: () => undefined });
    expect(existsSync(`${dir.path}/postgres`)).toBe(false);
  });

  it('are reported at the start when mails or archives go to one that does not respond', async () => {
    const refused = '127.0.0.1:1 does not respond (ECONNREFUSED).';
    const env = { SMTP_URL: 'smtp://127.0.0.1:1', BACKUP_S3_URL: 's3://archives?endpoint=http://127.0.0.1:1' };
    expect(await checkGivenServers(env)).toEqual([
      `SMTP_URL is set, but no mail server works there: ${refused}`,
      `BACKUP_S3_URL is set, but no object storage works there: ${refused}`,
    ]);
    const there = new URL(requiredAddress('POSTGRES_URL')).host;
    expect(await checkGivenServers({ SMTP_URL: `smtp://${there}`, BACKUP_S3_URL: 's3://archives' })).toEqual([]);
  });

  it('are said to have no address when it is no URL, without what is in it', async () => {
    for (const url of ['postgres://ada:a/secret@db:5432/tasks', 'mysql://ada:secret@db/tasks', 'db.example.com']) {
      const refusal = checkGivenServers({ POSTGRES_URL: url });
      await expect(refusal).rejects.toThrow(
        'it has no address: POSTGRES_URL must be postgres://user:password@host:5432',
      );
      await expect(refusal).rejects.not.toThrow('secret');
    }
  });

  it('are said to lack a database, not to be silent, when it is not there', async () => {
    const url = new URL(given().POSTGRES_URL);
    url.pathname = '/nowhere';
    const refusal = provideServers({
      env: { ...given(), POSTGRES_URL: url.href },
      dataDir: dir.path,
      log: () => undefined,
    });
    await expect(refusal).rejects.toThrow(
      'it has no such database (POSTGRES_URL): database "nowhere" does not exist. Correct it, or',
    );
  });

  it('keep what was started from staying when another one fails', async () => {
    const env = { ...given(), POSTGRES_URL: undefined, REDIS_URL: 'redis://127.0.0.1:1' };
    const lines: string[] = [];
    await expect(provideServers({ env, dataDir: dir.path, log: (line) => lines.push(line) })).rejects.toThrow(
      /REDIS_URL/,
    );
    expect(lines.join()).toContain('PostgreSQL is ready');
    expect(existsSync(`${dir.path}/postgres/postmaster.pid`)).toBe(false);
  });
});
