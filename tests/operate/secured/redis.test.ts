import { createRedisKeyValue, readRedisSettings, findRedisProblem } from '@taskmesh/key-value';
import { findFreePorts } from '@taskmesh/local';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually } from '@taskmesh/testing';
import { createAuthority } from '@taskmesh/testing/certificates';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { temporaryFiles } from './temporary-files.ts';

const PASSWORD = 'kept-to-itself';
const files = temporaryFiles();
const log = createLog({ service: 'test', level: 'silent' });

const authority = await createAuthority();
const { cert, key } = await authority.issue();
const ca = files.write('ca.pem', authority.ca);
const strangersCa = files.write('stranger.pem', (await createAuthority()).ca);
const [tlsPort = 0, plainPort = 0] = await findFreePorts(2);
const configuration = {
  ...{ bind: '127.0.0.1', port: plainPort, 'tls-port': tlsPort, 'tls-auth-clients': 'no', save: '""' },
  'tls-cert-file': files.write('server.crt', cert),
  'tls-key-file': files.write('server.key', key),
  user: `taskmesh on >${PASSWORD} ~* &* +@all`,
  requirepass: PASSWORD,
};
const lines = Object.entries(configuration).map((line) => line.join(' '));
const redis = spawn('redis-server', [files.write('redis.conf', lines.join('\n'))], { stdio: 'ignore' });
await once(redis, 'spawn');
afterAll(async () => {
  const ended = once(redis, 'exit');
  redis.kill();
  await ended;
});

const over = (
  protocol: 'redis' | 'rediss',
  { port = tlsPort, password = PASSWORD, user = 'taskmesh', trust = ca } = {},
) => ({
  REDIS_URL: `${protocol}://${user}:${password}@127.0.0.1:${port}${protocol === 'rediss' && trust ? `?sslrootcert=${trust}` : ''}`,
});
const settingsOf = (env: Record<string, string>) => {
  const settings = readRedisSettings(env);
  if (!settings) throw new Error('no settings');
  return settings;
};
const failure = async (env: Record<string, string>) => (await findRedisProblem(settingsOf(env)))?.reason;
await eventually(async () => (await failure(over('rediss'))) === undefined);

describe('a Redis that requires TLS and a password', () => {
  it('is used for values and limits', async () => {
    const store = createRedisKeyValue({ ...settingsOf(over('rediss')), log });
    atEnd(() => store.close());
    await store.set('key', 'value', { ttlSeconds: 60 });
    expect(await store.get('key')).toBe('value');
    expect(store.isUp()).toBe(true);
  });

  const UNTRUSTED = /not trusted \(sslrootcert in REDIS_URL\)/;
  const REFUSED = /refuses the user or .* \(REDIS_URL\)/;
  it.each<[string, () => Record<string, string>, RegExp]>([
    ['its certificate is untrusted', () => over('rediss', { trust: '' }), UNTRUSTED],
    ['a stranger vouches for it', () => over('rediss', { trust: strangersCa }), UNTRUSTED],
    ['the password is wrong', () => over('rediss', { password: 'a-secret-guess' }), REFUSED],
    ['the user is unknown', () => over('rediss', { user: 'unknown' }), REFUSED],
    ['there is no password', () => ({ REDIS_URL: `redis://127.0.0.1:${plainPort}` }), REFUSED],
    ['it is spoken to without TLS', () => over('redis'), /uses TLS.*REDIS_URL/],
    ['it speaks no TLS itself', () => over('rediss', { port: plainPort }), /uses TLS.*REDIS_URL/],
    ['no server listens', () => over('redis', { port: 1 }), /does not respond: .*ECONNREFUSED/],
  ])('is reported with the setting, and without secrets, when %s', async (_, env, reason) => {
    const message = await failure(env());
    expect(message).toMatch(reason);
    expect(message).not.toMatch(/secret|kept-to-itself/);
  });
});
