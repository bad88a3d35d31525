import { atEnd, connectClient, eventually, listen } from '@taskmesh/testing';
import { startMailServer } from '@taskmesh/testing/mail-server';
import { Cron } from 'croner';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createWebhook } from '../src/schedule/notices.ts';
import { createBackupFixture, figureOf, type FixtureOverrides, type Other } from './support/backup-fixture.ts';
import { startBackupProcess } from './support/backup-process.ts';

const EVERY_SECOND = '* * * * * *';
/** A valid schedule that is very unlikely to be due during a test: 29 February. */
const RARELY = '0 0 29 2 *';

const fixture = await createBackupFixture('schedule');
beforeEach(() => fixture.reset());

/** Runs `work` with another instance on the same stores, with a schedule. */
const withSchedule = <Result>(difference: FixtureOverrides, work: (one: Other) => Promise<Result>): Promise<Result> =>
  fixture.withOther({ verifiesScheduled: false, ...difference }, work);

const listed = () => fixture.backup.backups.list();
const files = () => readdir(fixture.config.backupsDir);
/** For runs that begin within a second, and may take long on a busy machine. */
const soon = (check: () => unknown) => eventually(check, { timeoutMs: 60_000 });

describe('a schedule', () => {
  it('makes archives, verifies them and logs it', async () => {
    await withSchedule({ schedule: EVERY_SECOND, verifiesScheduled: true }, async (one) => {
      await soon(async () => expect((await listed()).filter(({ verifiedAt }) => verifiedAt)).not.toEqual([]));
      const line = { msg: 'scheduled backup made', verified: true };
      await soon(() => expect(one.logged).toContainEqual(expect.objectContaining(line)));
      expect(await figureOf(one, 'runs_total', { origin: 'schedule', outcome: 'ok' })).toBeGreaterThan(0);
      expect(await figureOf(one, 'last_success_timestamp_seconds')).toBeCloseTo(Date.now() / 1000, -2);
      expect(await figureOf(one, 'last_duration_seconds')).toBeGreaterThan(0);
      expect(await figureOf(one, 'last_size_bytes')).toBeGreaterThan(0);
      expect(await figureOf(one, 'schedule_failures_total', { run: 'backup' })).toBe(0);
    });
    for (const { origin } of await listed()) expect(origin).toBe('schedule');
  }, 120_000);

  it('fails if a new archive cannot be verified here', async () => {
    const importDatabase = async () => ({ complete: false, reason: 'It is newer.', concerns: 'version' }) as const;
    const owners = { ...fixture.owners, tasks: { ...fixture.owners.tasks, importDatabase } };
    await withSchedule({ schedule: EVERY_SECOND, verifiesScheduled: true, owners }, async (one) => {
      const failures = () => figureOf(one, 'schedule_failures_total', { run: 'backup' });
      await soon(async () => expect(await failures()).toBeGreaterThan(0));
    });
    expect(await listed()).toContainEqual(expect.objectContaining({ verifiedAt: null, unfitAt: null }));
  }, 120_000);

  it('is executed by one of several instances', async () => {
    const settings = { schedule: EVERY_SECOND, verifiesScheduled: false };
    const three = await Promise.all([1, 2, 3].map(() => fixture.startOther(settings)));
    const made = () => three.flatMap(({ logged }) => logged.filter(({ msg }) => msg === 'scheduled run ended'));
    await soon(() => expect(made().length).toBeGreaterThan(1));
    for (const one of three) await one.stop();
    const ended = made().map(({ moment }) => moment);
    expect(new Set(ended).size).toBe(ended.length);
    expect(await files()).toHaveLength(ended.length);
  }, 120_000);

  const neverRun = () =>
    fixture.own.query(`insert into schedule (id, moment, attempts) values ('backup', '2001-01-01', 0)
      on conflict (id) do update set moment = excluded.moment, begun_moment = null, begun_at = null, attempts = 0`);
  const momentIn = async (column: string) => {
    const [row] = await fixture.own.query(`select ${column} as moment from schedule where id = 'backup'`);
    return (row?.moment as Date | null | undefined)?.toISOString();
  };
  const done = () => momentIn('moment');
  const dueMoment = () => new Cron(RARELY, { timezone: 'UTC', paused: true }).previousRuns(1)[0]?.toISOString();

  it('makes up for moments missed while no instance ran, with one run', async () => {
    const looked = ({ logged }: Other) =>
      eventually(async () => {
        expect(await fixture.own.query('select 1 from schedule')).toHaveLength(1);
        expect(logged).not.toContainEqual(expect.objectContaining({ level: 'error' }));
      });
    await withSchedule({ schedule: RARELY }, looked);
    expect(await files()).toEqual([]); // the schedule has never been due
    await neverRun();
    const madeUp = () => soon(async () => expect(await files()).toHaveLength(1));
    await withSchedule({ schedule: RARELY }, () => withSchedule({ schedule: RARELY }, madeUp));
    await withSchedule({ schedule: RARELY }, looked);
    expect(await files()).toHaveLength(1);
  }, 120_000);

  it('makes up for a run whose instance was killed', async () => {
    await neverRun();
    // Keeps the run busy.
    const holder = await connectClient(fixture.tasks.url, 'begin; lock table tasks in access exclusive mode');
    const process = await startBackupProcess({ ...fixture.config, schedule: RARELY, verifiesScheduled: false });
    await soon(async () => expect(await momentIn('begun_moment')).toBe(dueMoment()));
    await process.kill();
    await holder.end();
    expect(await done()).not.toBe(dueMoment());
    expect(await files()).toEqual([]);
    await fixture.own.query(`update schedule set begun_at = begun_at - interval '2 minutes'`);
    await withSchedule({ schedule: RARELY }, () => soon(async () => expect(await done()).toBe(dueMoment())));
    expect(await files()).toHaveLength(1);
  }, 120_000);
});

/** Starts a server that responds with the next of `statuses` each time, and then always with the last one. */
async function startReceiver(...statuses: number[]) {
  const received: { path: string | undefined; body: Record<string, unknown> }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url, body: JSON.parse(body) as Record<string, unknown> });
      response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200, { location: '/elsewhere' });
      response.end();
    });
  });
  const { url } = await listen(server);
  return { received, url: `${url}/hook?secret=s3cret` };
}

/** Adds an archive to the directory and the catalogue, as if made some days ago. */
const put = async (file: string, createdAt: string, origin: string, verified = false) => {
  await fixture.archive(file, { 'notes.txt': file });
  const sizeBytes = (await listed()).find((backup) => backup.file === file)?.sizeBytes;
  await fixture.own.query(
    `insert into backups (file, size_bytes, created_at, stores, origin, verified_at) values ($1, $2, $3, '{tasks}', $4, $5)
       on conflict (file) do update set created_at = excluded.created_at, stores = excluded.stores, origin = excluded.origin,
         verified_at = excluded.verified_at, unfit_at = null, unfit_reason = null`, // the listing may already have examined it
    [file, sizeBytes, createdAt, origin, verified ? createdAt : null],
  );
};
const old = (names: string[]) => names.filter((file) => !file.startsWith('taskmesh-')).toSorted();

it('retention deletes scheduled archives that no rule keeps, but never the newest verified one or archives of other origin', async () => {
  await put('asked.tar.gz', '2026-01-01T00:00:00Z', 'request');
  await put('sent.tar.gz', '2026-01-01T00:00:00Z', 'upload');
  await fixture.archive('unknown.tar.gz', { 'notes.txt': 'x' });
  await put('verified-1.tar.gz', '2026-01-02T00:00:00Z', 'schedule', true);
  await put('verified-2.tar.gz', '2026-01-03T00:00:00Z', 'schedule', true);
  await put('night-4.tar.gz', '2026-01-04T00:00:00Z', 'schedule');
  await put('night-5.tar.gz', '2026-01-05T00:00:00Z', 'schedule');
  const staying = ['asked.tar.gz', 'sent.tar.gz', 'unknown.tar.gz', 'verified-2.tar.gz'];
  const kept = () => soon(async () => expect(old(await files())).toEqual(staying));
  await withSchedule({ schedule: EVERY_SECOND, keep: { last: 1 } }, kept);
}, 120_000);

it('retention deletes nothing while new archives fail, which is logged, counted and reported once by webhook and mail; another instance continues, and reports that', async () => {
  const [hook, post] = [await startReceiver(200), await startMailServer()];
  atEnd(post.close);
  const mail = { to: ['ops@example.com', 'second@example.com'], from: 'Taskmesh <t@localhost>', dataDir: '/nowhere' };
  const secrets = { webhookUrl: hook.url, smtpUrl: post.url };
  const settings = { schedule: EVERY_SECOND, keep: { last: 1 }, mail, secrets };
  await put('night-1.tar.gz', '2026-01-01T00:00:00Z', 'schedule');
  await put('night-2.tar.gz', '2026-01-02T00:00:00Z', 'schedule');
  await fixture.auth.query('create table odd (n int) partition by list (n)');
  await withSchedule(settings, async (one) => {
    const failures = () => figureOf(one, 'schedule_failures_total', { run: 'backup' });
    await soon(async () => expect(await failures()).toBeGreaterThan(1));
    expect(one.logged).toContainEqual(expect.objectContaining({ msg: 'scheduled backup failed', level: 'error' }));
    expect(await figureOf(one, 'runs_total', { origin: 'schedule', outcome: 'failed' })).toBeGreaterThan(0);
    expect(JSON.stringify(one.logged)).not.toContain('s3cret');
  });
  expect(await files()).toHaveLength(2);
  const message = expect.stringContaining('The backup was not made: auth: ');
  const [at, since] = [expect.any(String), expect.any(String)];
  const body = { event: 'failed', run: 'backup', at, since, message, text: expect.stringContaining('The scheduled backup failed') }; // prettier-ignore
  expect(hook.received).toEqual([{ path: '/hook?secret=s3cret', body }]);
  expect(post.mails.map(({ to }) => to[0]).toSorted()).toEqual(mail.to);
  expect(post.mails[0]?.raw).toContain('Subject: Taskmesh: The scheduled backup failed');
  expect(post.mails[0]?.raw).toEqual(message);

  await fixture.auth.query('drop table odd');
  await withSchedule(settings, async (two) => {
    await soon(async () => expect(old(await files())).toEqual([]));
    const ended = () => two.logged.filter(({ msg }) => msg === 'scheduled run ended');
    await soon(() => expect(ended().length).toBeGreaterThan(1));
  });
  expect(hook.received.map(({ body }) => body.event)).toEqual(['failed', 'recovered']);
  expect(post.mails).toHaveLength(4);
}, 120_000);

describe('a schedule of verifications', () => {
  const make = () => fixture.backup.backups.create();
  /** Damages an archive without changing its size. */
  const damage = ({ file, sizeBytes }: Awaited<ReturnType<typeof make>>) =>
    writeFile(join(fixture.config.backupsDir, file), Buffer.alloc(sizeBytes));
  /** Runs a verification that is due. Returns the number of failures, and the time of the newest archive that is fit. */
  const runDue = async () => {
    await fixture.own.query(`insert into schedule (id, moment) values ('verification', '2001-01-01') on conflict (id) do update set moment = excluded.moment`); // prettier-ignore
    return withSchedule({ verifySchedule: RARELY }, async (one) => {
      await soon(() => expect(one.logged).toContainEqual(expect.objectContaining({ msg: 'scheduled run ended' })));
      const failures = await figureOf(one, 'schedule_failures_total', { run: 'verification' });
      return { failures, provedS: await figureOf(one, 'last_proved_timestamp_seconds') };
    });
  };

  it('verifies the newest archive and the one verified longest ago, and reports one that is no longer fit', async () => {
    const [first, second, third] = [await make(), await make(), await make()];
    for (const [hours, { file }] of [first, third, second].entries())
      await fixture.own.query(`update backups set verified_at = now() - (3 - $2::int) * interval '1 hour' where file = $1`, [file, hours]); // prettier-ignore
    const proofs = async () => new Map((await listed()).map(({ file, verifiedAt }) => [file, verifiedAt?.getTime()]));
    const before = await proofs();
    await runDue();
    const after = await proofs();
    for (const { file } of [first, third]) expect(after.get(file)).toBeGreaterThan(before.get(file) ?? Infinity);
    expect(after.get(second.file)).toBe(before.get(second.file));

    await damage(third);
    expect(await runDue()).toEqual({ failures: 1, provedS: second.createdAt.getTime() / 1000 });
    expect((await proofs()).get(second.file)).toBeGreaterThan(before.get(second.file) ?? Infinity);
  }, 120_000);

  it('tries its own unfit archives again, and reports only those that were fit before', async () => {
    const [fit, wrong, damaged] = [await make(), await make(), await make()];
    await damage(damaged);
    const long = new Date('2026-01-01T00:00:00Z');
    const unfit = `origin = 'schedule', unfit_at = $2, unfit_reason = 'no memory', modified_at = null`;
    for (const { file } of [wrong, damaged])
      await fixture.own.query(`update backups set ${unfit} where file = $1`, [file, long]);
    expect(await runDue()).toMatchObject({ failures: 0 });
    const found = new Map((await listed()).map((backup) => [backup.file, backup]));
    const proved = { verifiedAt: expect.any(Date), unfitAt: null };
    for (const { file } of [fit, wrong]) expect(found.get(file)).toMatchObject(proved);
    expect(found.get(damaged.file)).toMatchObject({ verifiedAt: null, unfitAt: long });
  }, 120_000);

  it('fails for as long as no archive can be verified, even if that is known', async () => {
    const made = await make();
    await damage(made);
    for (const round of [1, 2, 3]) {
      if (round === 3) await rm(join(fixture.config.backupsDir, made.file)); // as if the disk were not mounted
      expect(await runDue()).toMatchObject({ failures: 1 });
    }
    expect(await fixture.own.query('select 1 from failing_runs')).toHaveLength(1);
  }, 120_000);
});

describe('a webhook', () => {
  const notice = { event: 'failed', run: 'backup', at: new Date(0), since: new Date(0), message: 'x' } as const;
  const send = (url: string, timeoutMs = 30_000) => createWebhook({ url, timeoutMs, pausesMs: [1, 1] })(notice);

  it.each([
    ['temporary failures are retried', [500, 429, 200], 3, undefined],
    ['retries end', [503], 3, 'responded with 503'],
    ['a refusal is final', [403], 1, 'responded with 403'],
    ['redirects are not followed', [302], 1, 'responded with 302'],
  ])('%s', async (_what, statuses, attempts, failure) => {
    const hook = await startReceiver(...statuses);
    const outcome = await send(hook.url).catch(String);
    expect([outcome, hook.received.length]).toEqual([failure && expect.stringContaining(failure), attempts]);
  });

  it('that does not respond times out, without revealing its URL', async () => {
    const { url } = await listen(createServer(() => undefined));
    expect(await send(`${url}/s3cret`, 500).catch(String)).toBe('Error: The webhook does not respond.');
  });
});

it('the metrics know the newest archive and the last verification from the start, and count verifications by outcome', async () => {
  const { file, createdAt, sizeBytes } = await fixture.backup.backups.create();
  await fixture.own.query('update backups set verified_at = created_at');
  await fixture.archive('bad.tar.gz', { 'notes.txt': 'x' });
  await withSchedule({}, async (one) => {
    const figures = async (...names: string[]) => Promise.all(names.map((name) => figureOf(one, name)));
    const at = createdAt.getTime() / 1000;
    const names = ['last_verified_timestamp_seconds', 'last_success_timestamp_seconds', 'last_size_bytes'];
    expect(await figures(...names)).toEqual([at, at, sizeBytes]);
    await one.backups.verify(file);
    await expect(one.backups.verify('bad.tar.gz')).rejects.toMatchObject({ code: 'CONFLICT' });
    for (const outcome of ['ok', 'unfit']) expect(await figureOf(one, 'verifications_total', { outcome })).toBe(1);
    expect((await figures('last_verified_timestamp_seconds'))[0]).toBeGreaterThan(at);
  });
}, 120_000);

it('the metrics do not keep the service from starting while the archive storage is invalid', async () => {
  const backupsDir = join(fixture.config.backupsDir, 'a-file');
  await writeFile(backupsDir, '');
  await withSchedule({ backupsDir }, async (one) => {
    await eventually(async () => expect(await one.ready()).toMatchObject({ ok: true }));
    expect(one.logged).toContainEqual(expect.objectContaining({ msg: 'the archive storage is unavailable' }));
  });
});
