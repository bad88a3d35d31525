import { startPostgres } from '@taskmesh/local';
import { findPostgresProblem } from '@taskmesh/store/postgres-problems';
import { atEnd, eventually, query } from '@taskmesh/testing';
import { createAuthority } from '@taskmesh/testing/certificates';
import { chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRest, register } from '../../http.ts';
import { startProduct } from '../../product.ts';
import { temporaryFiles } from './temporary-files.ts';

const files = temporaryFiles();

const authority = await createAuthority();
const { cert, key } = await authority.issue();
const ca = files.write('ca.pem', authority.ca);
const otherCa = files.write('stranger.pem', (await createAuthority()).ca);
const dataDir = files.path('postgres');
const server = await startPostgres({ dataDir, log: () => undefined });
const { uid, gid } = statSync(dataDir);
const write = (name: string, content: string) => {
  writeFileSync(join(dataDir, name), content, { mode: 0o600 });
  chownSync(join(dataDir, name), uid, gid);
};
write('server.crt', cert);
write('server.key', key);
await query(server.url, 'alter system set ssl = on');
write('pg_hba.conf', 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
await query(server.url, 'select pg_reload_conf()');
await eventually(() => expect(query(server.url, 'select 1')).rejects.toThrow(/no encryption/));
afterAll(() => server?.stop());

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
    const [connections] = await query(
      POSTGRES_URL,
      `select count(*)::int as all, count(*) filter (where ssl)::int as secured
         from pg_stat_activity join pg_stat_ssl using (pid) where application_name like 'taskmesh-%'`,
    );
    expect(connections?.all).toBeGreaterThan(2);
    expect(connections?.secured).toBe(connections?.all);
    expect((await createRest(product.url)('POST', '/backups')).status).toBeLessThan(300);
  });

  const UNTRUSTED = /authority that is not trusted \(sslrootcert in POSTGRES_URL\)/;
  const known = () => ({ sslmode: 'verify-full', sslrootcert: ca });
  it.each<[string, () => string, RegExp]>([
    ['its certificate is untrusted', () => url({ sslmode: 'verify-full' }), UNTRUSTED],
    ['another authority signed its certificate', () => url({ ...known(), sslrootcert: otherCa }), UNTRUSTED],
    ['the CA file is missing', () => url({ sslrootcert: '/nowhere.pem' }), /POSTGRES_URL .*sslrootcert/],
    [
      'the password is wrong',
      () => url(known(), { password: 'a-secret-guess' }),
      /user or the password \(POSTGRES_URL\)/,
    ],
    ['the client does not use TLS', () => url({}), /refuses .*sslmode in POSTGRES_URL/],
    ['no server listens', () => url({}, { port: '1' }), /does not respond: .*ECONNREFUSED/],
  ])('is reported with the setting, and without secrets, when %s', async (_, address, reason) => {
    const refusal = await findPostgresProblem(address());
    expect(refusal?.reason).toMatch(reason);
    expect(refusal?.reason).not.toMatch(/secret/);
  });
});
