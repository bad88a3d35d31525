import { ConfigError, type Env } from '@taskmesh/service';
import { makeTempDir } from '@taskmesh/testing';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { preflight, type ExpectedSecrets } from './preflight.ts';

const expected: ExpectedSecrets = {
  gateway: [{ name: 'REDIS_URL', secret: 'redis', key: 'url', file: 'env/REDIS_URL', path: 'redis' }],
  auth: [
    {
      ...{ name: 'POSTGRES_URL', secret: 'pg', key: 'auth', file: 'env/POSTGRES_URL', path: 'postgresql.auth' },
      query: [['sslmode=verify-full&sslrootcert', 'postgresql/auth.crt']],
    },
    { name: '', secret: 'pg-ca', key: 'ca.crt', file: 'postgresql/auth.crt', path: 'postgresql.auth.ca' },
    { name: 'ACCESS_TOKEN_KEYS_FILE', secret: 'keys', key: 'k', file: 'tokens/keys.json', path: 'keys.accessTokens' },
  ],
};
let dir: string;

beforeEach(() => void (dir = makeTempDir()));

function put(file: string, text = 'x'): void {
  mkdirSync(dirname(join(dir, file)), { recursive: true });
  writeFileSync(join(dir, file), text);
}

function putAll(): void {
  put('gateway/env/REDIS_URL', 'redis://cache');
  put('auth/env/POSTGRES_URL', 'postgres://db/auth');
  put('auth/postgresql/auth.crt');
  put('auth/tokens/keys.json');
}

const looked = (check: (env: Env) => Promise<string[]>) =>
  preflight({
    expected,
    secretsDir: dir,
    env: { KAFKA_BROKERS_OF_GATEWAY: 'kafka://reader@kafka:9092' },
    check,
  });

describe('the preflight', () => {
  it('reports every missing secret, and where to set another one, before it checks a server', async () => {
    put('auth/tokens/keys.json');
    put('auth/postgresql/auth.crt');
    put('gateway/env/REDIS_URL', ' \n'); // as good as none
    expect((await looked(() => Promise.reject(new Error('asked')))).problems).toEqual([
      "The secret redis has no key url, or does not exist: create it, or name another one at redis of the chart's values.",
      "The secret pg has no key auth, or does not exist: create it, or name another one at postgresql.auth of the chart's values.",
    ]);
  });

  it('checks the servers of each service with the settings of its pods, trimmed as by the image', async () => {
    putAll();
    put('gateway/env/REDIS_URL', ' redis://cache \n');
    const asked: Env[] = [];
    expect(await looked(async (env) => (asked.push(env), []))).toEqual({ problems: [], notes: [] });
    expect(asked).toMatchObject([
      { REDIS_URL: 'redis://cache', KAFKA_BROKERS: 'kafka://reader@kafka:9092' },
      {
        POSTGRES_URL: `postgres://db/auth?sslmode=verify-full&sslrootcert=${dir}/auth/postgresql/auth.crt`,
        ACCESS_TOKEN_KEYS_FILE: `${dir}/auth/tokens/keys.json`,
      },
    ]);
    expect(asked[1]?.KAFKA_BROKERS).toBeUndefined();
  });

  it('does not check mail servers and buckets, which its network policy does not let it reach', async () => {
    const secrets = ['SMTP_URL', 'BACKUP_S3_URL'].map((name) => {
      put(`auth/env/${name}`, 'smtp://mail.example.com');
      return { name, secret: 's', key: 'k', file: `env/${name}`, path: 'auth.smtp' };
    });
    const asked: Env[] = [];
    const check = async (env: Env) => (asked.push(env), []);
    await preflight({ expected: { auth: secrets }, secretsDir: dir, env: {}, check });
    expect(asked).toEqual([{}]);
  });

  it('tries every PostgreSQL URL, and reports which value of the chart has a rejected one', async () => {
    const url = (name: string, path: string) => ({ name, secret: 'pg', key: 'k', file: `env/${name}`, path });
    const names = { POSTGRES_URL: 'backup', AUTH_ADMIN_URL: 'authAdmin', TASKS_ADMIN_URL: 'tasksAdmin' };
    const backup = Object.entries(names).map(([name, path]) => url(name, `postgresql.${path}`));
    const given = [...backup, url('MIGRATION_URL', 'migrations.backup')];
    for (const { name } of given) put(`backup/env/${name}`, `postgres://${name.toLowerCase()}@db`);
    const refuses = ({ POSTGRES_URL = '' }: Env) =>
      POSTGRES_URL === 'postgres://postgres_url@db'
        ? Promise.resolve([])
        : Promise.reject(new ConfigError([`POSTGRES_URL is set, but ${POSTGRES_URL} refuses (POSTGRES_URL).`]));
    const { problems } = await preflight({ expected: { backup: given }, secretsDir: dir, env: {}, check: refuses });
    expect(problems).toEqual([
      "postgresql.authAdmin of the chart's values: AUTH_ADMIN_URL is set, but postgres://auth_admin_url@db refuses (AUTH_ADMIN_URL).",
      "postgresql.tasksAdmin of the chart's values: TASKS_ADMIN_URL is set, but postgres://tasks_admin_url@db refuses (TASKS_ADMIN_URL).",
      "migrations.backup of the chart's values: MIGRATION_URL is set, but postgres://migration_url@db refuses (MIGRATION_URL).",
    ]);
  });

  it('reports a refusal of a server as a problem, and a possibly temporary failure as a note', async () => {
    putAll();
    const refuses = ({ REDIS_URL }: Env) =>
      REDIS_URL ? Promise.resolve(['Redis is away.']) : Promise.reject(new ConfigError(['A password is wrong.']));
    expect(await looked(refuses)).toEqual({ problems: ['A password is wrong.'], notes: ['Redis is away.'] });
  });
});
