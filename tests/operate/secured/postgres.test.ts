import { startPostgres } from '@taskmesh/local';
import { findPostgresProblem } from '@taskmesh/store/postgres-problems';
import { atEnd, eventually } from '@taskmesh/testing';
import { createAuthority } from '@taskmesh/testing/certificates';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createRest, register } from '../../http.ts';
import { startProduct } from '../../product.ts';
import { temporaryFiles } from './temporary-files.ts';

const files = temporaryFiles('postgres');

const authority = await createAuthority();
const { cert, key } = await authority.issue();
const ca = files.write('ca.pem', authority.ca);
const strangersCa = files.write('stranger.pem', (await createAuthority()).ca);
const dataDir = files.path('postgres');
const server = await startPostgres({ dataDir, log: () => undefined });
const { uid, gid } = statSync(dataDir);
const write = (name: string, content: string) => {
  writeFileSync(join(dataDir, name), content, { mode: 0o600 });
  chownSync(join(dataDir, name), uid, gid);
};
write('server.crt', cert);
write('server.key', key);
await withClient(server.url, async (client) => {
  await client.query('alter system set ssl = on');
  write('pg_hba.conf', 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  await client.query('select pg_reload_conf()');
});
await eventually(async () => {
  await expect(withClient(server.url, async () => undefined)).rejects.toThrow(/no encryption/);
});
afterAll(async () => {
  await server?.stop();
  files.remove();
});

async function withClient(connectionString: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

/** Returns the URL of the server with these parameters, and another password or port. */
function url(parameters: Record<string, string>, change: Partial<Pick<URL, 'password' | 'port'>> = {}): string {
  const changed = Object.assign(new URL(server.url), change);
  changed.search = String(new URLSearchParams(parameters));
  return changed.href;
}

describe('a PostgreSQL that requires TLS', () => {
  it('serves the product with TLS on every connection, including backups', async () => {
    const POSTGRES_URL = url({ sslmode: 'verify-full', sslrootcert: ca });
    const product = await startProduct('start', { POSTGRES_URL });
    atEnd(() => product.stop());
    const { create, titles } = await register(product.url);
    await create('a task');
    expect(await titles()).toEqual(['a task']);
    await withClient(POSTGRES_URL, async (admin) => {
      const { rows } = await admin.query(
        `select count(*)::int as all, count(*) filter (where ssl)::int as secured
           from pg_stat_activity join pg_stat_ssl using (pid) where application_name like 'taskmesh-%'`,
      );
      expect(rows[0].all).toBeGreaterThan(2);
      expect(rows[0].secured).toBe(rows[0].all);
    });
    expect((await createRest(product.url)('POST', '/backups')).status).toBeLessThan(300);
  });

  const UNTRUSTED = /authority that is not trusted \(sslrootcert in POSTGRES_URL\)/;
  const known = () => ({ sslmode: 'verify-full', sslrootcert: ca });
  it.each<[string, () => string, RegExp]>([
    ['its certificate is untrusted', () => url({ sslmode: 'verify-full' }), UNTRUSTED],
    ['a stranger vouches for it', () => url({ ...known(), sslrootcert: strangersCa }), UNTRUSTED],
    ['the certificate is not there', () => url({ sslrootcert: '/nowhere.pem' }), /POSTGRES_URL .*sslrootcert/],
    [
      'the password is wrong',
      () => url(known(), { password: 'a-secret-guess' }),
      /user or the password \(POSTGRES_URL\)/,
    ],
    ['it is spoken to without TLS', () => url({}), /refuses .*sslmode in POSTGRES_URL/],
    ['no server listens', () => url({}, { port: '1' }), /does not respond: .*ECONNREFUSED/],
  ])('is reported with the setting, and without secrets, when %s', async (_, address, reason) => {
    const refusal = await findPostgresProblem(address());
    expect(refusal?.reason).toMatch(reason);
    expect(refusal?.reason).not.toMatch(/secret/);
  });
});
