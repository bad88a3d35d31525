import { adminPortOf, readEnv, setting } from './config.ts';
import { z } from 'zod';

const told = (name: string) => {
  try {
    readEnv(z.object({ [name]: setting.int(1, 2) }), { [name]: 'nonsense' });
  } catch (error) {
    return error instanceof Error ? error.message : undefined;
  }
  return undefined;
};

describe('a setting that makes no sense', () => {
  it.each(['ACCESS_TOKEN_TTL_S', 'PASSWORD_MIN_LENGTH', 'PUBLIC_URL', 'BACKUP_KEY_FILE', 'PORT'])(
    'is told with its value: %s',
    (name) => expect(told(name)).toContain(`${name} must be a whole number (is: "nonsense")`),
  );

  const secrets = ['BACKUP_TOKEN', 'KAFKA_SASL_PASSWORD', 'REALTIME_ANON_KEY', 'POSTGRES_URL', 'BACKUP_S3_URL'];
  it.each([...secrets, 'OTEL_EXPORTER_OTLP_HEADERS'])('is told without its value when that is a secret: %s', (name) =>
    expect(told(name)).toContain(`${name} must be a whole number (is: not shown)`),
  );

  it('is told without the login in a URL', () => {
    const schema = z.object({ OIDC_ISSUER: setting.url('https:') });
    expect(() => readEnv(schema, { OIDC_ISSUER: 'grpc://me:hid/d@n@login.example:1' })).toThrow(
      'OIDC_ISSUER must be a URL that starts with https:// (is: "grpc://…@login.example:1")',
    );
  });

  it('is told to be written otherwise when a password keeps a URL from being one', () => {
    const schema = z.object({ POSTGRES_URL: setting.url('postgres:', 'postgresql:') });
    for (const password of ['a/b', '100%sure', '%FF'])
      expect(() => readEnv(schema, { POSTGRES_URL: `postgres://ada:${password}@db:5432/tasks` })).toThrow(
        'POSTGRES_URL is not a whole URL; in a password write / as %2F, @ as %40, % as %25 and the like (is: not shown)',
      );
  });

  it.each(['a token', 'tökén'])('is a token that no client could show: %s', (BACKUP_TOKEN) =>
    expect(() => readEnv(z.object({ BACKUP_TOKEN: setting.token().optional() }), { BACKUP_TOKEN })).toThrow(
      'BACKUP_TOKEN must be of ASCII characters without blanks (is: not shown)',
    ),
  );
});

describe('a setting that is absent', () => {
  it('is told with the form that it must have', () => {
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
});

describe('the port for administrators', () => {
  it.each([
    [{ PORT: 4002 }, 14_002],
    [{ PORT: 55_535 }, 65_535],
    [{ PORT: 60_000, ADMIN_PORT: 9_000 }, 9_000],
    [{ PORT: 0 }, 0],
    [{ PORT: 4002, ADMIN_PORT: 0 }, 0],
  ])('of %j is %d', (ports, expected) => expect(adminPortOf(ports)).toBe(expected));

  it('has to be told where PORT + 10000 is no port', () => {
    expect(() => adminPortOf({ PORT: 55_536 })).toThrow('ADMIN_PORT is needed: PORT + 10000 is no port');
  });
});
