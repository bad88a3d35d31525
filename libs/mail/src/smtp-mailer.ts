import { createTransport } from 'nodemailer';
import { connect, type Socket } from 'node:net';
import { UndeliverableError, type Mailer } from './mailer.ts';
import { keepLongLines } from './plain-lines.ts';

/** The limit for a whole mail, even if the server keeps responding. The lease of a mail must be longer. */
const DEADLINE_MS = 30_000;
const PORTS = { smtp: 587, smtps: 465 };

/** `url` is `smtp://user:password@host:port`, or `smtps:`. Uses STARTTLS if the server offers it, and with a user requires it. */
export function createSmtpMailer(options: { url: string; from: string; deadlineMs?: number }): Mailer {
  const { url, from, deadlineMs = DEADLINE_MS } = options;
  const sockets = new Set<Socket>();
  let isClosed = false;

  // The library limits only the time between two bytes: a server that sends one every few seconds could hold us forever.
  const getSocket = (
    { host = 'localhost', port, secure }: { host?: string; port?: number; secure?: boolean },
    done: (error: Error | null, opened?: { connection: Socket }) => void,
  ) => {
    if (isClosed) return done(new Error('The mailer is closed.'));
    const socket = connect({ host, port: port ?? (secure ? PORTS.smtps : PORTS.smtp) });
    const deadline = setTimeout(() => socket.destroy(new Error(`Took more than ${deadlineMs} ms.`)), deadlineMs);
    sockets.add(socket);
    socket.once('error', done);
    socket.once('connect', () => {
      socket.removeListener('error', done);
      done(null, { connection: socket });
    });
    socket.once('close', () => {
      clearTimeout(deadline);
      sockets.delete(socket);
    });
  };
  const requireTLS = new URL(url).username !== ''; // `?requireTLS=false` in the URL wins
  const transport = createTransport({ url, requireTLS, getSocket, disableFileAccess: true, disableUrlAccess: true });
  keepLongLines(transport);

  return {
    async send({ to, subject, text }) {
      try {
        // An object makes the library use the address literally: commas and brackets in it do not add recipients.
        await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
      } catch (error) {
        const cause = withoutAddresses(error);
        if (isFinal(error)) throw new UndeliverableError('The mail was refused.', { cause });
        throw cause;
      }
    },
    close() {
      isClosed = true;
      transport.close();
      for (const socket of sockets) socket.destroy(new Error('The mailer is closed.'));
      return Promise.resolve();
    },
  };
}

/**
 * Whether this recipient can never be reached: the library refuses the address, or the server does, because of the address itself
 * (RFC 3463, 5.1). Refusals because of the sender, a policy or a quota may be temporary.
 */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error && 'command' in error)) return false;
  const { command, code, responseCode, response } = error as Error &
    Partial<Record<'command' | 'code' | 'response', string> & { responseCode: number }>; // of the library
  if (command === 'API') return code === 'EENVELOPE';
  if (command !== 'RCPT TO' || ![550, 551, 553].includes(responseCode ?? 0)) return false;
  const enhanced = /^\d{3}[ -](5\.\d{1,3}\.\d{1,3})\b/.exec(response ?? '')?.[1];
  return enhanced === undefined || enhanced.startsWith('5.1.');
}

/**
 * Keeps only the parts of an error that may be logged. The library's own error also lists the recipients, and mail servers
 * repeat them in their responses. Our addresses contain no blanks.
 */
function withoutAddresses(error: unknown): Error {
  const { message, code, responseCode, command } = error as Error &
    Record<'code' | 'responseCode' | 'command', unknown>; // as far as it has them
  const text = String(message)
    .replace(/\S+/g, (word) => (word.includes('@') ? '[address]' : word))
    .slice(0, 1_000);
  return Object.assign(new Error(text), { code, responseCode, command });
}
