import { problemsOf as problemsIn } from '@taskmesh/service/testing';
import { readAuthConfig, findMailProblems } from './config.ts';

const POSTGRES_URL = 'postgres://auth:secret@db.example/auth';
const LOCAL = 'http://127.0.0.1:8080/realms/test';

const problemsOf = (env: Record<string, string>) => problemsIn(() => readAuthConfig(env));

describe("auth's configuration", () => {
  it.each([
    [1, {}, 1],
    [4, { UV_THREADPOOL_SIZE: '9' }, 3],
    [16, { UV_THREADPOOL_SIZE: '16' }, 9],
    [2, { HASH_CONCURRENCY: '7' }, 7],
  ])('on %d cores with %j, allows %d password hashes at once', (cores, env, expected) => {
    expect(readAuthConfig({ POSTGRES_URL, ...env }, cores).hashConcurrency).toBe(expected);
  });

  it.each(['https://tasks.example/', 'HTTPS://Tasks.example', 'https://tasks.example\n'])(
    'takes PUBLIC_URL as browsers write it: %j',
    (PUBLIC_URL) => expect(readAuthConfig({ POSTGRES_URL, PUBLIC_URL }).publicUrl).toBe('https://tasks.example'),
  );

  it('reports missing mail settings in production', () => {
    expect(findMailProblems({ NODE_ENV: 'production', SMTP_URL_FILE: '/secrets/smtp' })).toEqual([
      expect.stringMatching(/^SMTP_URL is not set/),
      expect.stringMatching(/^PUBLIC_URL is not set/),
    ]);
    const whole = { NODE_ENV: 'production', SMTP_URL: 'smtp://mail.example', PUBLIC_URL: 'https://tasks.example' };
    expect([findMailProblems(whole), findMailProblems({ NODE_ENV: 'development' })]).toEqual([[], []]);
  });

  it('requires both OIDC_ISSUER and OIDC_CLIENT_ID for a sign-in provider', () => {
    const provider = { OIDC_ISSUER: 'https://login.example.com', OIDC_CLIENT_ID: 'taskmesh' };
    const { oidc, secrets } = readAuthConfig({ POSTGRES_URL, ...provider });
    expect(oidc).toEqual({ issuer: 'https://login.example.com', clientId: 'taskmesh', name: 'login.example.com' });
    expect(secrets.oidcClientSecret).toBeUndefined();
    const more = { OIDC_NAME: 'Example', OIDC_CLIENT_SECRET: 'x' };
    const config = readAuthConfig({ POSTGRES_URL, ...provider, ...more });
    expect([config.oidc?.name, config.secrets.oidcClientSecret]).toEqual(['Example', 'x']);
    for (const name of ['OIDC_ISSUER', 'OIDC_CLIENT_ID']) {
      const problem = expect.stringMatching(new RegExp(`^${name} is needed: with OIDC_`));
      expect(problemsOf({ POSTGRES_URL, ...provider, ...more, [name]: '' })).toEqual([problem]);
    }
    expect(problemsOf({ POSTGRES_URL, OIDC_CLIENT_SECRET: 'x' })).toHaveLength(2);
  });

  const MORE = ['https://a.example?b=c', 'https://a.example/#x', 'https://u:p@a.example'];

  it.each<[string, string, RegExp, string[]]>([
    ['PUBLIC_URL', 'has more than an address', /^PUBLIC_URL must be an address/, MORE],
    [
      'OIDC_ISSUER',
      'is on another machine without TLS, has a query or a user, or is not an HTTP URL',
      /^OIDC_ISSUER must /,
      [
        'http://login.example.com',
        'http://127.0.0.1.example.com',
        'login.example.com',
        'file:///etc/passwd',
        'https://login.example.com/?tenant=a',
        'https://user@login.example.com',
      ],
    ],
    [
      'MAIL_FROM',
      'is not exactly one sender address',
      /^MAIL_FROM must be like /,
      [
        'nonsense',
        '@',
        'Tasks',
        'a@x.org, b@x.org',
        'Tasks <tasks>',
        'Tasks <a b@x.org>',
        'Tasks\r\nBcc: <a@x.org>',
        'A: T <a@x.org>',
        'a:b@x.org',
        'A "T <a@x.org>',
        'A (T <a@x.org>',
        'A ((T)) <a@x.org>',
        '"A\\" <a@x.org>',
        'a(b@x.org',
        'a@(x.org',
        '<a(b)@x.org>',
        'a@x.org:',
      ],
    ],
  ])('rejects a %s that %s', (name, _what, reason, values) => {
    const env = { POSTGRES_URL, OIDC_CLIENT_ID: 'c', OIDC_ISSUER: LOCAL };
    const problems = [expect.stringMatching(reason)];
    for (const value of values) expect([value, problemsOf({ ...env, [name]: value })]).toEqual([value, problems]);
  });

  it('accepts a sender with or without a name, and an issuer on this machine without TLS', () => {
    const named = ['Tasks', 'Tasks (prod)', 'Tasks, Inc.', '"Tasks, Inc."', '"Acme: Tasks (prod)"', ''];
    for (const from of ['tasks@example.com', ...named.map((name) => `${name} <tasks@localhost>`)])
      expect(readAuthConfig({ POSTGRES_URL, MAIL_FROM: from }).mailFrom).toBe(from);
    const provider = { OIDC_ISSUER: LOCAL, OIDC_CLIENT_ID: 'taskmesh' };
    expect(readAuthConfig({ POSTGRES_URL, ...provider }).oidc?.name).toBe('127.0.0.1:8080');
  });

  it('reports all problems at once and reveals no secret', () => {
    const wrong = {
      POSTGRES_URL: 'mysql://auth:secret@db.example',
      ACCESS_TOKEN_TTL_S: '0',
      REFRESH_TOKEN_TTL_DAYS: 'x',
      PASSWORD_MIN_LENGTH: '7',
      HASH_CONCURRENCY: '-1',
      RATE_LIMIT_FACTOR: '-1',
      SMTP_URL: 'http://user:secret@mail.example',
      PUBLIC_URL: 'nowhere',
    };
    const problems = problemsOf(wrong);
    expect(problems.map((problem) => problem.split(' ')[0]).toSorted()).toEqual(Object.keys(wrong).toSorted());
    expect(problems.join()).not.toContain('secret');
  });
});
