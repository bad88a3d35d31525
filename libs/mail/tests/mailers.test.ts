import { createLog, systemClock } from '@taskmesh/service';
import { eventually, listen, makeTempDir } from '@taskmesh/testing';
import { startMailServer } from '@taskmesh/testing/mail-server';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createFileMailer, createSmtpMailer, UndeliverableError, type Mailer } from '../src/index.ts';

const log = createLog({ service: 'test', level: 'silent' });
const FROM = 'Taskmesh <taskmesh@localhost>';
const TOKEN = 'a-_'.repeat(14) + 'b';
const LINK = `https://tasks.example/reset-password#token=${TOKEN}`;

function describeMailer(
  name: string,
  open: () => Promise<{ mailer: Mailer; arrived(): Promise<string[]>; close(): Promise<void> }>,
) {
  describe(`the mailer to ${name}`, () => {
    let way: Awaited<ReturnType<typeof open>>;
    beforeEach(async () => {
      way = await open();
    });
    afterEach(async () => {
      await way.mailer.close();
      await way.close();
    });

    it('delivers a complete mail with its token unbroken on a line of its own', async () => {
      const text = ['Follow this link:', '', LINK, '', 'Or enter this:', '', TOKEN, ''].join('\n');
      await way.mailer.send({ to: 'ada@example.com', subject: 'Set a new Taskmesh password', text });
      const [raw, ...more] = await way.arrived();
      expect(more).toEqual([]);
      expect(raw).toMatch(/^From: Taskmesh <taskmesh@localhost>\r?$/m);
      expect(raw).toMatch(/^To: ada@example\.com\r?$/m);
      expect(raw).toMatch(/^Subject: Set a new Taskmesh password\r?$/m);
      expect(raw?.split(/\r?\n/)).toContain(TOKEN);
      expect(raw?.split(/\r?\n/)).toContain(LINK);
    });

    it.each([['a,b@example.com'], ['a;b@example.com'], ['"a"@example.com'], ['a+tag@example.com']])(
      'treats %s as one address',
      async (to) => {
        await way.mailer.send({ to, subject: 's', text: 't' });
        const arrived = await way.arrived();
        expect(arrived.map((raw) => raw.match(/^(To|Cc|Bcc): .*$/gim)?.length)).toEqual([1]);
      },
    );

    it('does not let an address add a header or a recipient', async () => {
      await way.mailer.send({ to: 'a@b.c\r\nBcc: x@y.z', subject: 's', text: 't' }).catch(() => undefined);
      for (const raw of await way.arrived()) expect(raw).not.toMatch(/^Bcc:/im);
    });
  });
}

describeMailer('an SMTP server', async () => {
  const server = await startMailServer();
  return {
    mailer: createSmtpMailer({ url: server.url, from: FROM }),
    arrived: async () => {
      for (const { to } of server.mails) expect(to).toHaveLength(1);
      return server.mails.map(({ raw }) => raw);
    },
    close: () => server.close(),
  };
});

describeMailer('files', async () => {
  const dir = makeTempDir();
  return {
    mailer: createFileMailer({ dir, from: FROM, clock: systemClock, ids: { next: randomUUID }, log }),
    arrived: async () => {
      const files = await readdir(dir);
      for (const file of files) expect(file).toMatch(/\.eml$/);
      return Promise.all(files.map((file) => readFile(join(dir, file), 'utf8')));
    },
    close: () => rm(dir, { recursive: true }),
  };
});

it('keeps the newest 1,000 mail files', async () => {
  const dir = makeTempDir();
  const old = Array.from({ length: 1_000 }, (_, index) => `2026-01-01T00-00-00.${String(index).padStart(3, '0')}Z.eml`);
  await Promise.all(old.map((name) => writeFile(join(dir, name), '')));
  const mailer = createFileMailer({ dir, from: FROM, clock: systemClock, ids: { next: randomUUID }, log });
  await mailer.send({ to: 'ada@example.com', subject: 's', text: 't' });
  const files = (await readdir(dir)).toSorted();
  expect(files).toHaveLength(1_000);
  expect(files[0]).toBe(old[1]);
});

describe('an SMTP server that refuses a mail', () => {
  /** The failure of a mail to this address, which the server refuses like this. */
  async function failureOf(to: string, responseCode: number, message: string): Promise<unknown> {
    const server = await startMailServer({ refuse: () => ({ responseCode, message }) });
    const mailer = createSmtpMailer({ url: server.url, from: FROM });
    const failure: unknown = await mailer.send({ to, subject: 's', text: 't' }).catch((error: unknown) => error);
    await mailer.close();
    await server.close();
    return failure;
  }

  it.each([
    [550, '<absentee@example.com>: no mailbox absentee@example.com here', true],
    [450, '<absentee@example.com>: no mailbox absentee@example.com here', false],
    [554, '5.7.1 relay access denied', false],
    [552, '5.2.2 a full mailbox', false],
    [550, '5.7.1 its policy', false],
  ])('with %i %s makes it undeliverable: %s', async (code, message, isUndeliverable) => {
    const failure = await failureOf('absentee@example.com', code, message);
    expect(failure).toBeInstanceOf(Error);
    expect(failure instanceof UndeliverableError).toBe(isUndeliverable);
  });

  it.each([550, 450])(
    'causes an error with the reason, but without the address, which must not be logged: %i',
    async (code) => {
      const to = '"absentee+tag"@example.com';
      const text = inspect(await failureOf(to, code, `<${to}>: no mailbox ${to} here`), { depth: Infinity });
      expect(text).toContain('no mailbox');
      expect(text).toContain(`responseCode: ${code}`);
      expect(text).not.toMatch(/absentee|example\.com/);
    },
  );

  it('at great length neither stops the process nor fills its log', async () => {
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
  const mailer = createSmtpMailer({ url: server.url, from: FROM });
  const send = () => mailer.send({ to: 'ada@example.com', subject: 's', text: 't' });
  await expect(send()).rejects.toMatchObject({ code: expect.stringMatching(/ECONNREFUSED/) });
  const again = await startMailServer({ port: server.port });
  await send();
  expect(again.mails).toHaveLength(1);
  await mailer.close();
  await again.close();
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
  const mailer = createSmtpMailer({ url: `smtp://user:password@127.0.0.1:${port}${query}`, from: FROM });
  await expect(mailer.send({ to: 'ada@example.com', subject: 's', text: 't' })).rejects.toThrow();
  expect(secret).toEqual(expected);
  await mailer.close();
});

describe('an SMTP server that sends a byte now and then', () => {
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

  const mail = { to: 'ada@example.com', subject: 's', text: 't' };

  it('has a limited time for a mail', async () => {
    const mailer = createSmtpMailer({ url, from: FROM, deadlineMs: 300 });
    await expect(mailer.send(mail)).rejects.toThrow('Took more than 300 ms.');
    await eventually(() => expect(sockets.size).toBe(0));
    await mailer.close();
  });

  it('does not keep a mailer from closing', async () => {
    const mailer = createSmtpMailer({ url, from: FROM });
    const sending = expect(mailer.send(mail)).rejects.toThrow('The mailer is closed.');
    await eventually(() => expect(sockets.size).toBe(1));
    await mailer.close();
    await sending;
  });
});
