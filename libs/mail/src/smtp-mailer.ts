import { createTransport } from 'nodemailer';
import { UndeliverableError, type Mailer } from './mailer.ts';
import { keepLinesWhole } from './plain-lines.ts';

/** In sum half a minute: whoever leases a mail to send it leases it for longer. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 15_000 };

/** `smtp://user:password@host:port`, or `smtps:`; STARTTLS is used where the server offers it. */
export function createSmtpMailer(options: { url: string; from: string }): Mailer {
  const transport = createTransport({ url: options.url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
  keepLinesWhole(transport);
  return {
    async send({ to, subject, text }) {
      try {
        // As an object, the address is taken as it is: commas and brackets in it do not make more recipients.
        await transport.sendMail({ from: options.from, to: { name: '', address: to }, subject, text });
      } catch (error) {
        if (isFinal(error)) throw new UndeliverableError('The mail was refused.', { cause: error });
        throw error;
      }
    },
    close() {
      transport.close();
      return Promise.resolve();
    },
  };
}

/** SMTP's 5xx answers are final, except where they speak of our own login or connection. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false;
  if (error.code !== 'EENVELOPE' && error.code !== 'EMESSAGE') return false;
  return !('responseCode' in error) || typeof error.responseCode !== 'number' || error.responseCode >= 500;
}
