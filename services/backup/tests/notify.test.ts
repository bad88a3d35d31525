import { eventually, listen } from '@taskmesh/testing';
import { startMailServer } from '@taskmesh/testing/mail-server';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createWebhook } from '../src/schedule/notices.ts';
import { createBackupFixture, type BackupFixture, type FixtureOverrides } from './support/backup-fixture.ts';

const EVERY_SECOND = '* * * * * *';
const withinAMinute = { timeoutMs: 60_000 };

interface Received {
  path: string | undefined;
  body: Record<string, unknown>;
}

/** Starts a server that responds with the next of `statuses` each time, and then always with the last one. */
async function startReceiver(...statuses: number[]) {
  const received: Received[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    void text(request).then((body) => {
      received.push({ path: request.url, body: JSON.parse(body) as Record<string, unknown> });
      response.writeHead((statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 200, { location: '/elsewhere' });
      response.end();
    });
  });
  const { url, close } = await listen(server);
  return { received, url: `${url}/hook?secret=s3cret`, close };
}

describe('a failed scheduled run', () => {
  let fixture: BackupFixture;
  beforeAll(async () => {
    fixture = await createBackupFixture('notify');
  });
  beforeEach(() => fixture.reset());

  const start = async ({ secrets, ...settings }: FixtureOverrides) => {
    const backup = await fixture.startOther({ verifiesScheduled: false, schedule: EVERY_SECOND, ...settings, secrets });
    const { logged } = backup;
    const count = (msg: string) => logged.filter((line) => line.msg === msg).length;
    return { backup, logged, count };
  };
  const spoil = () => fixture.auth.query('create table odd (n int) partition by list (n)');
  const mend = () => fixture.auth.query('drop table odd');

  it('is reported once by webhook and mail, and once more when it works again, even by another instance', async () => {
    const hook = await startReceiver(200);
    const post = await startMailServer();
    await spoil();
    const mail = { to: ['ops@example.com', 'second@example.com'], from: 'Taskmesh <t@localhost>', dataDir: '/nowhere' };
    const first = await start({ mail, secrets: { webhookUrl: hook.url, smtpUrl: post.url } });
    await eventually(() => expect(first.count('scheduled backup failed')).toBeGreaterThan(1), withinAMinute);
    await first.backup.stop();
    expect(hook.received).toEqual([
      {
        path: '/hook?secret=s3cret',
        body: {
          event: 'failed',
          run: 'backup',
          at: expect.any(String),
          since: expect.any(String),
          message: expect.stringContaining('The backup was not made: auth: '),
          text: expect.stringContaining('The scheduled backup failed'),
        },
      },
    ]);
    expect(post.mails.map(({ to }) => to[0]).toSorted()).toEqual(['ops@example.com', 'second@example.com']);
    expect(post.mails[0]?.raw).toContain('Subject: Taskmesh: The scheduled backup failed');
    expect(post.mails[0]?.raw).toContain('The backup was not made: auth: ');

    await mend();
    const second = await start({ mail, secrets: { webhookUrl: hook.url, smtpUrl: post.url } });
    await eventually(() => expect(hook.received).toHaveLength(2), withinAMinute);
    await eventually(() => expect(second.count('scheduled run ended')).toBeGreaterThan(1), withinAMinute);
    await second.backup.stop();
    expect(hook.received.map(({ body }) => body.event)).toEqual(['failed', 'recovered']);
    expect(post.mails).toHaveLength(4);
    expect(JSON.stringify([...first.logged, ...second.logged])).not.toContain('s3cret');
    await Promise.all([hook.close(), post.close()]);
  }, 120_000);

  it('is reported again after the next failure if no one could be reached', async () => {
    const hook = await startReceiver(404, 200);
    await spoil();
    const { backup, logged } = await start({ secrets: { webhookUrl: hook.url } });
    await eventually(() => expect(hook.received).toHaveLength(2), withinAMinute);
    await backup.stop();
    const failures = logged.filter(({ msg }) => msg === 'operators not notified');
    expect(failures).toEqual([expect.objectContaining({ level: 'error', run: 'backup' })]);
    expect(JSON.stringify(failures)).toContain('responded with 404');
    await hook.close();
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
    const sent = send(hook.url);
    if (failure === undefined) await sent;
    else await expect(sent).rejects.toThrow(failure);
    expect(hook.received).toHaveLength(attempts);
    await hook.close();
  });

  it('that does not respond times out, without revealing its URL', async () => {
    const { url } = await listen(createServer(() => undefined));
    const failure = await send(`${url}/s3cret`, 500).catch(String);
    expect(failure).toBe('Error: The webhook does not respond.');
  });
});
