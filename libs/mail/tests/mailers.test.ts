import { createLog, systemClock } from '@taskmesh/service';
import { atEnd, eventually, listen, makeTempDir } from '@taskmesh/testing';
import { startMailServer } from '@taskmesh/testing/mail-server';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createFileMailer, createSmtpMailer, UndeliverableError, type Mailer } from '../src/index.ts';

const log = createLog({ service: 'test', level: 'silent' });
const FROM = 'Taskmesh <taskmesh@localhost>';
const TOKEN = 'a-_'.repeat(14) + 'b';
const LINK = `https://tasks.example/reset-password#token=${TOKEN}`;
const MAIL = { to: 'ada@example.com', subject: 's', text: 't' };

/** A mailer to this SMTP server, until the end of the test. */
function smtpMailer(url: string, deadlineMs?: number) {
  const mailer = createSmtpMailer({ url, from: FROM, deadlineMs });
  atEnd(() => mailer.close());
  return mailer;
}

/** An SMTP server, until the end of the test. */
async function mailServer(options?: Parameters<typeof startMailServer>[0]) {
  const server = await startMailServer(options);
  atEnd(() => server.close());
  return server;
}

const fileMailer = (dir: string) =>
  createFileMailer({ dir, from: FROM, clock: systemClock, ids: { next: randomUUID }, log });

function describeMailer(name: string, open: () => Promise<{ mailer: Mailer; arrived(): Promise<string[]> }>) {
  describe(`the mailer to ${name}`, () => {
    it('delivers a complete mail with its token unbroken on a line of its own', async () => {
      const { mailer, arrived } = await open();
      const text = ['Follow this link:', '', LINK, '', 'Or enter this:', '', TOKEN, ''].join('\n');
      await mailer.send({ to: 'ada@example.com', subject: 'Set a new Taskmesh password', text });
      const [raw, ...more] = await arrived();
      expect(more).toEqual([]);
      const headers = [`From: ${FROM}`, 'To: ada@example.com', 'Subject: Set a new Taskmesh password'];
      expect(raw?.split(/\r?\n/)).toEqual(expect.arrayContaining([...headers, TOKEN, LINK]));
    });

    it.each(['a,b@example.com', 'a;b@example.com', '"a"@example.com', 'a+tag@example.com'])(
      'treats %s as one address',
      async (to) => {
        const { mailer, arrived } = await open();
        await mailer.send({ ...MAIL, to });
        expect((await arrived()).map((raw) => raw.match(/^(To|Cc|Bcc): .*$/gim)?.length)).toEqual([1]);
      },
    );

    it('does not let an address add a header or a recipient', async () => {
      const { mailer, arrived } = await open();
      await mailer.send({ ...MAIL, to: 'a@b.c\r\nBcc: x@y.z' }).catch(() => undefined);
      for (const raw of await arrived()) expect(raw).not.toMatch(/^Bcc:/im);
    });
  });
}

describeMailer('an SMTP server', async () => {
  const server = await mailServer();
  const arrived = async () => {
    for (const { to } of server.mails) expect(to).toHaveLength(1);
    return server.mails.map(({ raw }) => raw);
  };
  return { mailer: smtpMailer(server.url), arrived };
});

describeMailer('files', async () => {
  const dir = makeTempDir();
  const arrived = async () => {
    const files = await readdir(dir);
    for (const file of files) expect(file).toMatch(/\.eml$/);
    return Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
  };
  return { mailer: fileMailer(dir), arrived };
});

it('keeps the newest 1,000 mail files', async () => {
  const dir = makeTempDir();
  const old = Array.from({ length: 1_000 }, (_, index) => `2026-01-01T00-00-00.${String(index).padStart(3, '0')}Z.eml`);
  await Promise.all(old.map((name) => writeFile(join(dir, name), '')));
  await fileMailer(dir).send(MAIL);
  const files = (await readdir(dir)).toSorted();
  expect(files).toHaveLength(1_000);
  expect(files[0]).toBe(old[1]);
});

it('leaves no part of a mail file that cannot be written', async () => {
  const dir = makeTempDir();
  await mkdir(join(dir, '1970-01-01T00-00-00.000Z-taken.eml'));
  const mailer = createFileMailer({ dir, from: FROM, clock: { now: () => 0 }, ids: { next: () => 'taken' }, log });
  await expect(mailer.send(MAIL)).rejects.toThrow('EISDIR');
  expect(await readdir(dir)).toEqual(['1970-01-01T00-00-00.000Z-taken.eml']);
});

describe('a mail that an SMTP server refuses', () => {
  /** Sends a mail that the server refuses with this response, and returns the error. */
  async function failureOf(to: string, responseCode: number, message: string): Promise<unknown> {
    const { url } = await mailServer({ refuse: () => ({ responseCode, message }) });
    return smtpMailer(url)
      .send({ ...MAIL, to })
      .catch((error: unknown) => error);
  }

  it.each([
    [550, '<absentee@example.com>: no mailbox absentee@example.com here', true],
    [450, '<absentee@example.com>: no mailbox absentee@example.com here', false],
    [554, '5.7.1 relay access denied', false],
    [552, '5.2.2 a full mailbox', false],
    [550, '5.7.1 its policy', false],
  ])('with %i %s is undeliverable: %s', async (code, message, isUndeliverable) => {
    const failure = await failureOf('absentee@example.com', code, message);
    expect(failure).toBeInstanceOf(Error);
    expect(failure instanceof UndeliverableError).toBe(isUndeliverable);
  });

  it.each([550, 450])('fails with the reason, but without the address, which must not be logged: %i', async (code) => {
    const to = '"absentee+tag"@example.com';
    const text = inspect(await failureOf(to, code, `<${to}>: no mailbox ${to} here`), { depth: Infinity });
    expect(text).toContain('no mailbox');
    expect(text).toContain(`responseCode: ${code}`);
    expect(text).not.toMatch(/absentee|example\.com/);
  });

  it('with a very long message neither blocks the process nor fills its log', async () => {
    const begin = process.cpuUsage();
    const failure = await failureOf('ada@example.com', 450, 'x'.repeat(300_000));
    const { user, system } = process.cpuUsage(begin);
    expect((user + system) / 1_000).toBeLessThan(2_000); // 90 s when the search for addresses was quadratic
    expect((failure as Error).message.length).toBeLessThan(1_001);
  });
});

it('an SMTP server that is down causes a temporary error', async () => {
  const server = await startMailServer();
  await server.close();
  const mailer = smtpMailer(server.url);
  await expect(mailer.send(MAIL)).rejects.toMatchObject({ code: expect.stringMatching(/ECONNREFUSED/) });
  const restarted = await mailServer({ port: server.port });
  await mailer.send(MAIL);
  expect(restarted.mails).toHaveLength(1);
});

it.each([
  ['', []],
  ['?requireTLS=false', ['AUTH']],
])('sends a login to a server without TLS only if SMTP_URL ends with %j', async (query, expected) => {
  const secret: string[] = [];
  const server = createServer((socket) => {
    socket.write('220 ready\r\n');
    socket.on('data', (data) => {
      const [command = ''] = String(data).split(/\s/);
      if (/AUTH|MAIL|DATA/.test(command)) secret.push(command);
      socket.write(command === 'EHLO' ? '250-test\r\n250 AUTH PLAIN\r\n' : '502 unknown\r\n');
    });
  });
  const { port } = await listen(server);
  await expect(smtpMailer(`smtp://user:password@127.0.0.1:${port}${query}`).send(MAIL)).rejects.toThrow();
  expect(secret).toEqual(expected);
});

describe('an SMTP server that never finishes its greeting', () => {
  let url: string;
  const sockets = new Set<Socket>();
  beforeEach(async () => {
    const drip = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      const timer = setInterval(() => socket.write('220-wait\r\n'), 20);
      socket.on('close', () => {
        clearInterval(timer);
        sockets.delete(socket);
      });
    });
    url = `smtp://127.0.0.1:${(await listen(drip)).port}`;
  });

  it('has a limited time to accept a mail', async () => {
    await expect(smtpMailer(url, 300).send(MAIL)).rejects.toThrow('Took more than 300 ms.');
    await eventually(() => expect(sockets.size).toBe(0));
  });

  it('does not keep a mailer from closing', async () => {
    const mailer = smtpMailer(url);
    const sending = expect(mailer.send(MAIL)).rejects.toThrow('The mailer is closed.');
    await eventually(() => expect(sockets.size).toBe(1));
    await mailer.close();
    await sending;
  });
});
