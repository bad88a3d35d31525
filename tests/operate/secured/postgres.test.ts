import { startPostgres, type PostgresServer } from '@taskmesh/local';
import { createAuthority } from '@taskmesh/testing/certificates';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { startProduct } from '../commands/start-product.ts';
import { createClient } from '../../contract/client.ts';
import { eventually } from '@taskmesh/testing';
import { temporaryFiles } from './temporary-files.ts';

const files = temporaryFiles('postgres');
let server: PostgresServer;
let ca: string;
let strangersCa: string;

beforeAll(async () => {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue();
  ca = files.write('ca.pem', authority.ca);
  strangersCa = files.write('stranger.pem', (await createAuthority()).ca);
  const dataDir = files.path('postgres');
  server = await startPostgres({ dataDir, log: () => undefined });
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
}, 180_000);
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

/** The server by another address: with parameters, another password, or another port. */
function url(parameters: Record<string, string>, change: Partial<Pick<URL, 'password' | 'port'>> = {}): string {
  const changed = Object.assign(new URL(server.url), change);
  changed.search = String(new URLSearchParams(parameters));
  return changed.href;
}

describe('a PostgreSQL that wants TLS', () => {
  it('is what the product runs on, each of its connections, backups and restores included', async () => {
    const product = await startProduct('start', { POSTGRES_URL: url({ sslmode: 'verify-full', sslrootcert: ca }) });
    try {
      const client = createClient(() => product.url);
      const { token } = await client.signUp();
      expect((await client.call('POST', '/api/tasks', { token, json: { title: 'a task' } })).status).toBe(201);
      await withClient(url({ sslmode: 'verify-full', sslrootcert: ca }), async (admin) => {
        const { rows } = await admin.query(
          `select count(*)::int as all, count(*) filter (where ssl)::int as secured
           from pg_stat_activity join pg_stat_ssl using (pid) where application_name like 'taskmesh-%'`,
        );
        expect(rows[0].all).toBeGreaterThan(2);
        expect(rows[0].secured).toBe(rows[0].all);
      });
      const backup = await client.call<{ id: string }>('POST', '/api/backups');
      expect([200, 201, 202]).toContain(backup.status);
    } finally {
      await product.stop();
    }
  }, 180_000);

  it.each<[string, () => string, RegExp]>([
    [
      'its certificate is untrusted',
      () => url({ sslmode: 'verify-full' }),
      /authority that is not trusted \(sslrootcert in POSTGRES_URL\)/,
    ],
    [
      'a stranger vouches for it',
      () => url({ sslmode: 'verify-full', sslrootcert: strangersCa }),
      /authority that is not trusted \(sslrootcert in POSTGRES_URL\)/,
    ],
    ['the certificate is not there', () => url({ sslrootcert: '/nowhere.pem' }), /POSTGRES_URL .*sslrootcert/],
    [
      'the password is wrong',
      () => url({ sslmode: 'verify-full', sslrootcert: ca }, { password: 'a-secret-guess' }),
      /refuses the user or the password \(POSTGRES_URL\)/,
    ],
    ['it is spoken to without TLS', () => url({}), /refuses .*sslmode/],
    ['no server listens', () => url({}, { port: '1' }), /POSTGRES_URL .*ECONNREFUSED/],
  ])('is reported by the setting, and by no secret, when %s', async (_, address, reason) => {
    const start = startProduct('start', { POSTGRES_URL: address() });
    await expect(start).rejects.toThrow(reason);
    await expect(start).rejects.not.toThrow(/secret|^ +at /m);
  });
});
