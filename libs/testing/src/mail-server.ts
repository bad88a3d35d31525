import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  to: string[];
  raw: string;
}

export interface MailServer {
  url: string;
  port: number;
  mails: ReceivedMail[];
  close(): Promise<void>;
}

/** The response to a rejected recipient. */
export interface Refusal {
  responseCode: number;
  message: string;
}

/** A real SMTP server on this machine; `refuse` rejects recipients. */
export async function startMailServer(
  options: { port?: number; refuse?: (to: string) => Refusal | undefined } = {},
): Promise<MailServer> {
  const { port = 0, refuse = () => undefined } = options;
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
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}
