import { createTestDatabase, eventually, listen, makeTempDir, nodeEnvironment } from '@taskmesh/testing';
import { execFile, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';

const MAIN = join(import.meta.dirname, 'main.ts');
const dir = makeTempDir();

const database = await createTestDatabase('parts');

const run = (args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; said: string }>((resolve) => {
    execFile(process.execPath, [MAIN, ...args], { env: { ...nodeEnvironment(), ...env } }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, said: out + err }),
    );
  });

const secret = (content: string) => {
  const file = join(dir, 'secret');
  writeFileSync(file, content);
  return file;
};

it.each([[[]], [['relay']], [['migrate']], [['migrate', 'gateway']], [['constructor']], [['../tests']]])(
  'rejects the part %j, and lists the existing parts',
  async (args) => {
    const services = readdirSync(join(import.meta.dirname, '../../services'));
    expect(services).toContain('auth');
    const { code, said } = await run(args);
    expect(code).toBe(2);
    const listed = said.slice(said.indexOf(':') + 2, -'.\n'.length).split(', ');
    expect(listed).toEqual(expect.arrayContaining([...services, 'migrate auth', 'all', 'keys']));
    expect(listed).not.toContain('migrate gateway');
  },
);

describe('a secret', () => {
  it('can come from a file, which is ignored if the variable itself is set', async () => {
    const POSTGRES_URL_FILE = secret(`${database.url}\n`);
    expect(await run(['migrate', 'auth'], { POSTGRES_URL_FILE })).toMatchObject({ code: 0 });
    expect(await database.query('select 1 from accounts')).toEqual([]);
    const both = { POSTGRES_URL: database.url, POSTGRES_URL_FILE: secret('mysql://not-this-one') };
    expect(await run(['migrate', 'auth'], both)).toMatchObject({ code: 0 });
  });

  it('is read without its final line break, and rejected, not treated as missing, if it consists of blanks', async () => {
    const { code, said } = await run(['gateway'], { BACKUP_TOKEN: 'a-token\n', REDIS_URL: ' \n' });
    expect(code).toBe(1);
    for (const part of ['AUTH_URL is needed', 'REDIS_URL must be']) expect(said).toContain(part);
    expect(said).not.toContain('BACKUP_TOKEN');
  });

  it.each([
    ['missing, without showing a secret in place of its name', () => 'postgres://u:secret@host/x', 'ENOENT'],
    ['empty', () => secret('\n'), 'it is empty'],
  ])('prevents the start if its file is %s', async (_, file, why) => {
    expect(await run(['migrate', 'auth'], { POSTGRES_URL_FILE: file() })).toEqual({
      code: 1,
      said: `POSTGRES_URL_FILE cannot be used: ${why}\n`,
    });
  });
});

it('creates the keys of an installation, and keeps existing ones', async () => {
  const keys = join(dir, 'keys');
  expect(await run(['keys', keys])).toMatchObject({ code: 0 });
  expect(readdirSync(keys).sort()).toEqual([
    ...['access-tokens.json', 'backup-identity.json', 'gateway-identity.json', 'identity-public.json'],
    'tasks-identity.json',
  ]);
  expect(await run(['keys', keys])).toMatchObject({ code: 0 });
  expect((await run(['keys'])).code).toBe(2);
});

it('lets the running part handle SIGTERM', async () => {
  await run(['keys', dir]);
  const IDENTITY_PUBLIC_KEYS_FILE = join(dir, 'identity-public.json');
  const env = { POSTGRES_URL: database.url, DATA_DIR: dir, PORT: '0', ADMIN_PORT: '0', IDENTITY_PUBLIC_KEYS_FILE };
  const child = spawn(process.execPath, [MAIN, 'auth'], {
    env: { ...nodeEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close');
  await eventually(() => expect(said).toContain('"msg":"listening"'), { timeoutMs: 60_000 });
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  expect(said).toContain('"msg":"stopping"');
}, 180_000);

it('is healthy when the admin port reports that it is ready', async () => {
  let status = 200;
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end();
  });
  const { port, close } = await listen(server);
  const ADMIN_PORT = String(port);
  expect((await run(['healthcheck'], { ADMIN_PORT })).code).toBe(0);
  status = 503;
  expect((await run(['healthcheck'], { ADMIN_PORT })).code).toBe(1);
  expect(asked).toEqual(['/readyz', '/readyz']);
  await close();
  expect((await run(['healthcheck'], { ADMIN_PORT })).code).toBe(1);
});
