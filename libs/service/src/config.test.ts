import { z } from 'zod';
import { makeTempDir } from '@taskmesh/testing';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  findSuspectSettings,
  ensureWritableDirectory,
  readEnv,
  readProcess,
  refuseRemovedSettings,
  setting,
  type Env,
} from './config.ts';

const readNonsense = (name: string) => () => readEnv(z.object({ [name]: setting.int(1, 2) }), { [name]: 'nonsense' });

describe('an invalid setting', () => {
  it.each(['ACCESS_TOKEN_TTL_S', 'PASSWORD_MIN_LENGTH', 'PUBLIC_URL', 'BACKUP_KEY_FILE', 'PORT'])(
    'is reported with its value: %s',
    (name) => expect(readNonsense(name)).toThrow(`${name} must be a whole number (is: "nonsense")`),
  );

  const secrets = ['BACKUP_TOKEN', 'KAFKA_SASL_PASSWORD', 'REALTIME_ANON_KEY', 'POSTGRES_URL', 'BACKUP_S3_URL'];
  it.each([...secrets, 'OTEL_EXPORTER_OTLP_HEADERS'])('is reported without its value if it is a secret: %s', (name) =>
    expect(readNonsense(name)).toThrow(`${name} must be a whole number (is: not shown)`),
  );

  it('is reported without the login in a URL', () => {
    const schema = z.object({ OIDC_ISSUER: setting.url('https:') });
    expect(() => readEnv(schema, { OIDC_ISSUER: 'grpc://me:hid/d@n@login.example:1' })).toThrow(
      'OIDC_ISSUER must be a URL that starts with https:// (is: "grpc://…@login.example:1")',
    );
  });

  it('is reported with a hint if a password makes a URL invalid', () => {
    const schema = z.object({ POSTGRES_URL: setting.url('postgres:', 'postgresql:') });
    for (const password of ['a/b', '100%sure', '%FF'])
      expect(() => readEnv(schema, { POSTGRES_URL: `postgres://ada:${password}@db:5432/tasks` })).toThrow(
        'POSTGRES_URL is not a whole URL; in a password write / as %2F, @ as %40, % as %25 and the like (is: not shown)',
      );
  });

  it.each(['a token', 'tökén'])('is a token that no client could send: %s', (BACKUP_TOKEN) =>
    expect(() => readEnv(z.object({ BACKUP_TOKEN: setting.token().optional() }), { BACKUP_TOKEN })).toThrow(
      'BACKUP_TOKEN must be of ASCII characters without blanks (is: not shown)',
    ),
  );
});

it('a missing setting is reported with the required form', () => {
  const schema = z.object({
    POSTGRES_URL: setting.url('postgres:', 'postgresql:'),
    PORT: setting.port(),
    NEWER_SCHEMA: setting.oneOf(['refuse', 'allow']),
    IDENTITY_KEY_FILE: setting.text(),
    BACKUP_MAIL_TO: setting.list().pipe(z.array(z.string())),
  });
  expect(() => readEnv(schema, { POSTGRES_URL: '' })).toThrow(
    [
      'Wrong configuration:',
      '  - POSTGRES_URL is needed: it must be a URL that starts with postgres:// or postgresql://',
      '  - PORT is needed: it must be a whole number',
      '  - NEWER_SCHEMA is needed: it must be one of refuse, allow',
      '  - IDENTITY_KEY_FILE is needed',
      '  - BACKUP_MAIL_TO is needed',
    ].join('\n'),
  );
});

describe('the port for administrators', () => {
  it.each([
    [{}, 14_001],
    [{ PORT: '4002' }, 14_002],
    [{ PORT: '55535' }, 65_535],
    [{ PORT: '60000', ADMIN_PORT: '9000' }, 9_000],
    [{ PORT: '0' }, 0],
    [{ PORT: '4002', ADMIN_PORT: '0' }, 0],
  ])('for %j is %d', (ports, expected) => expect(readProcess(ports, 4_001).adminPort).toBe(expected));

  it('is open to this machine only, even if HOST is not', () => {
    expect(readProcess({ HOST: '0.0.0.0' }, 4_001)).toMatchObject({ host: '0.0.0.0', adminHost: '127.0.0.1' });
  });

  it('must be set if PORT + 10000 is not a port', () => {
    expect(() => readProcess({ PORT: '55536' }, 4_001)).toThrow('ADMIN_PORT is needed: PORT + 10000 is not a port');
  });
});

const OF_SERVERS = ['POSTGRES_URL', 'KAFKA_TOPIC_PREFIX', 'SMTP_URL'];
const KNOWN = [...OF_SERVERS, 'HOST', 'ACCESS_TOKEN_TTL_S', 'RATE_LIMIT_FACTOR', 'BACKUP_TOKEN'];
readEnv(z.object(Object.fromEntries(KNOWN.map((name) => [name, setting.text().optional()]))), {});

describe('misspelt settings', () => {
  it.each(['POSTGRES_ULR', 'POSTGRES_UR', 'POSTGRES_URLS', 'POSTGRE_URL', 'POSTGRES-URL', 'OPSTGRES_URL'])(
    'are reported: %s',
    (name) => {
      expect(findSuspectSettings({ [name]: 'x' })).toEqual([
        `${name} is not a setting and is ignored: is POSTGRES_URL meant?`,
      ]);
    },
  );

  it.each([
    ['ACCESS_TOKEN_TTL', 'ACCESS_TOKEN_TTL_S'],
    ['RATE_LIMIT', 'RATE_LIMIT_FACTOR'],
    ['SMTP_HOST', 'SMTP_URL'],
  ])('are reported if the last word is missing, unless the full setting is set as well: %s', (name, meant) => {
    expect(findSuspectSettings({ [name]: 'x' })).toEqual([
      `${name} is not a setting and is ignored: is ${meant} meant?`,
    ]);
    expect(findSuspectSettings({ [name]: 'x', [meant]: 'x' })).toEqual([]);
  });

  it('are reported if they name the file of a secret, which an image has read by then', () => {
    expect(findSuspectSettings({ POSTGRES_URL_FILE: '/secrets/url' })).toEqual([
      'POSTGRES_URL_FILE is ignored: set POSTGRES_URL.',
    ]);
    expect(findSuspectSettings({ POSTGRES_URL_FILE: '/secrets/url', POSTGRES_URL: 'x' })).toEqual([]);
  });

  it('are reported with a replacement if they were settings of earlier versions', () => {
    expect(
      findSuspectSettings({ KAFKA_SSL: 'true', REALTIME_MAX_QUEUED_MB: '8', ADMIN_TOKEN: 'x', BACKUP_PG_DUMP: 'x' }),
    ).toEqual([
      'KAFKA_SSL is no longer a setting and is ignored: KAFKA_BROKERS=kafkas://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE replaces it.',
      'REALTIME_MAX_QUEUED_MB is no longer a setting and is ignored: it is always 128, with answers over HTTP.',
      'ADMIN_TOKEN is no longer a setting and is ignored: dead letters are handled at a gateway, with BACKUP_TOKEN.',
      'BACKUP_PG_DUMP is no longer a setting and is ignored: backup always writes dumps itself.',
    ]);
  });

  it('prevent the start if they protected a connection', () => {
    expect(() => refuseRemovedSettings({ KAFKA_SSL: 'false', KAFKA_SASL_USERNAME: '' }, 'KAFKA_')).not.toThrow();
    expect(() => refuseRemovedSettings({ KAFKA_SSL: 'true' }, 'KAFKA_')).toThrow('KAFKA_SSL is no longer a setting');
  });

  const ofOthers = ['ACCESS_TOKEN', 'KAFKA_TOPIC', 'REDIS_HOST', 'SMTP', 'POSTGRES'];
  it.each([...ofOthers, 'POSTGRES_URL', 'POSTGRES_PORT', 'POSTGRES_LUX', 'HOSTS', 'PATH', 'postgres_url'])(
    'are not reported for other names: %s',
    (name) => expect(findSuspectSettings({ [name]: 'x' })).toEqual([]),
  );
});

describe('an operator token', () => {
  const ofToken = (env: Env) => findSuspectSettings({ NODE_ENV: 'production', ...env });

  it('is reported without its value if it is too short for production', () => {
    const [problem, ...others] = ofToken({ BACKUP_TOKEN: 'x'.repeat(31) });
    expect(problem).toMatch(/^BACKUP_TOKEN has fewer than 32 characters/);
    expect(problem).not.toContain('xxx');
    expect(others).toEqual([]);
  });

  it.each<Env>([
    { BACKUP_TOKEN: 'x'.repeat(32) },
    { BACKUP_TOKEN: '' },
    {},
    { BACKUP_TOKEN: 'abc', NODE_ENV: 'development' },
  ])('is not reported otherwise: %j', (env) => expect(ofToken(env)).toEqual([]));
});

const top = makeTempDir();

describe('a directory named by a setting', () => {
  it('is created with its parents and the given mode, and left empty', () => {
    const dir = join(top, 'a', 'b');
    ensureWritableDirectory('DATA_DIR', dir, 0o700);
    ensureWritableDirectory('DATA_DIR', dir, 0o700);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is refused with the name of the setting if it is a file, or below one', () => {
    const file = join(top, 'file');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below'), join(file, 'far', 'below')])
      expect(() => ensureWritableDirectory('DATA_DIR', dir)).toThrow(
        /^Wrong configuration:\n {2}- DATA_DIR must name a writable directory \((EEXIST|ENOTDIR): ".*"\)$/,
      );
  });
});
