import { numberFromEnv } from '@taskmesh/testing';
import { printLine } from '@taskmesh/local';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRest, makeBackup, PASSWORD, restoreBackup } from '../http.ts';
import { runCampaign, type DoneFault } from './campaign.ts';
import { queryStore, useStack } from '../stack.ts';
import { execFileSync } from 'node:child_process';

/** The last commit of the previous release. */
const RELEASE_BEFORE = { version: '0.1.0', commit: 'b5fc69fc' };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/**
 * Extracts the previous release from the history, and installs its packages. Takes a minute or two, once for all runs.
 * @returns its folder
 * @throws in a clone without history
 */
function installReleaseBefore(): string {
  const { version, commit } = RELEASE_BEFORE;
  const folder = join(ROOT, '.cache', `release-${version}`);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  const archive = execFileSync('git', ['archive', commit], { cwd: ROOT, maxBuffer: 256 * 2 ** 20 });
  execFileSync('tar', ['-x'], { cwd: partial, input: archive });
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: partial, stdio: 'ignore' });
  renameSync(partial, folder); // last, so that an interrupted run does not leave a folder that looks complete
  return folder;
}

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_129);
const CALM_MS = 3_000;
const BACKUP_TOKEN = 'an-operator-of-both-releases-0123456789';
const SERVICES = fileURLToPath(new URL('../../services/', import.meta.url));
/** The order of the upgrade, gateways last. A rollback reverses it. */
const ORDER = ['auth', 'tasks', 'backup', 'gateway-1', 'gateway-2'];

describe(`an installation of ${RELEASE_BEFORE.version} that is upgraded under load`, () => {
  let links = '';
  let servicesBefore = '';
  /** Makes the service run the code below `services` after its next restart. */
  const runNext = (service: string, services: string) => {
    rmSync(join(links, service), { force: true });
    symlinkSync(join(services, service), join(links, service));
  };
  const faulty = useStack(
    'upgrade',
    () => ({ env: { BACKUP_TOKEN, NEWER_SCHEMA: 'allow' } }),
    (folder) => {
      links = join(folder, 'services');
      mkdirSync(links);
      servicesBefore = join(installReleaseBefore(), 'services');
      for (const service of ['auth', 'tasks', 'backup', 'gateway']) runNext(service, servicesBefore);
      return links;
    },
  );
  const rest = createRest(() => faulty.stack.urls[0] ?? '');
  const migrations = () => queryStore(faulty.stack, 'tasks', 'select name from mikro_orm_migrations order by name');
  const operator = { headers: { authorization: `Bearer ${BACKUP_TOKEN}` } };

  /** Creates what users and programs keep across releases: a session, a task, a token and an archive. */
  async function useReleaseBefore() {
    const email = `ada-${Date.now()}@example.com`;
    const signUp = { email, password: PASSWORD, name: 'Ada', refresh: true };
    type Session = Record<'access_token' | 'refresh_token', string>;
    const { body: session } = await rest<Session>('POST', '/auth/signup', { body: signUp });
    const token = session.access_token;
    const headers = { 'idempotency-key': 'once-and-for-both-releases' };
    const request = { token, headers, body: { title: 'made by the release before' } };
    const create = () => rest<{ data: { id: string } }>('POST', '/tasks', request);
    const task = await create();
    expect(task.status).toBe(201);
    const body = { name: 'script', scope: 'write', expires_at: new Date(Date.now() + 86_400_000).toISOString() };
    const made = await rest<{ token: string }>('POST', '/auth/tokens', { token, body });
    expect(made.status).toBe(201);
    const file = await makeBackup(faulty.stack.urls[0] ?? '', operator);
    return { email, session, create, task, personalToken: made.body.token, file };
  }

  it('and then rolled back and upgraded again loses, repeats and reorders no change, and keeps sessions, tokens, keys and archives', async () => {
    const before = await useReleaseBefore();
    const done: DoneFault[] = [];
    const replace = async (kind: string, targets: string[], services: string) => {
      for (const target of targets) {
        await sleep(CALM_MS);
        printLine(`${kind} of ${target}`);
        runNext(target.replace(/-\d$/, ''), services);
        await faulty.stack.processes.get(target)?.restart();
        done.push({ target, kind });
      }
    };
    const schemaBefore = await migrations();
    const faults = async () => {
      await replace('upgrade', ORDER, SERVICES);
      expect(await migrations()).toEqual(expect.arrayContaining(schemaBefore));
      expect(await migrations()).not.toEqual(schemaBefore);
      await replace('rollback', ORDER.toReversed(), servicesBefore);
      await replace('upgrade', ORDER, SERVICES);
      await sleep(CALM_MS);
      return done;
    };
    const owners = Array.from({ length: 3 }, () => ({ paceMs: 60 }));
    const result = await runCampaign({ urls: faulty.stack.urls, seed: SEED, owners, faults, cutEveryMs: 8_000 });
    expect(result.findings).toEqual([]);
    expect(result.figures.writes.confirmed).toBeGreaterThan(100);

    const { session, create, task, personalToken, file, email } = before;
    expect((await create()).body.data).toEqual(task.body.data);
    expect((await rest('GET', '/tasks', { token: session.access_token })).body).toMatchObject({ count: 1 });
    expect((await rest('GET', '/tasks', { token: personalToken })).status).toBe(200);
    const refresh = { refresh_token: session.refresh_token };
    expect((await rest('POST', '/auth/refresh', { body: refresh })).status).toBe(200);
    expect((await rest('POST', '/auth/login', { body: { email, password: PASSWORD } })).status).toBe(200);

    await rest('DELETE', `/tasks/${task.body.data.id}`, { token: session.access_token });
    const restored = await restoreBackup(faulty.stack.urls[0] ?? '', file, operator);
    expect(restored).toMatchObject({ status: 200, body: { message: expect.stringMatching(/^Database restored/) } });
    expect((await rest('GET', '/tasks', { token: personalToken })).body).toMatchObject({ count: 1 });
  }, 600_000);
});
