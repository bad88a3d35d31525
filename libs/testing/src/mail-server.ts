import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  to: string[];
  raw: string;
}

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

interface Options {
  port?: number;
  /** Returns the response to a rejected recipient. */
  refuse?: (to: string) => { responseCode: number; message: string } | undefined;
}

/** A real SMTP server on this machine. */
export async function startMailServer({ port = 0, refuse = () => undefined }: Options = {}) {
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => {
      const refusal = refuse(address);
      done(refusal ? Object.assign(new Error(refusal.message), refusal) : null);
    },
    onData(stream, session, done) {
      let raw = '';
      stream.setEncoding('utf8').on('data', (text: string) => (raw += text));
      stream.on('end', () => {
        mails.push({ to: session.envelope.rcptTo.map(({ address }) => address), raw });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.server.address() as AddressInfo).port; // it listens on TCP
  return {
    url: `smtp://127.0.0.1:${bound}`,
    port: bound,
    mails,
    close: () => new Promise<void>((resolve) => server.close(resolve)),
  };
}
