import { createTransport } from 'nodemailer';
import { UndeliverableError, type Mailer } from './mailer.ts';
import { keepLinesWhole } from './plain-lines.ts';
import { withoutAddresses } from './without-addresses.ts';

/** Half a minute in total: a mail's lease must be longer than that. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 5_000, greetingTimeout: 5_000, socketTimeout: 15_000 };

/** `smtp://user:password@host:port`, or `smtps:`; uses STARTTLS where the server offers it. */
export function createSmtpMailer(options: { url: string; from: string }): Mailer {
  const transport = createTransport({ url: options.url, ...TIMEOUTS, disableFileAccess: true, disableUrlAccess: true });
  keepLinesWhole(transport);
  return {
    async send({ to, subject, text }) {
      try {
        // Passed as an object, the address is taken literally: commas and brackets in it do not add recipients.
        await transport.sendMail({ from: options.from, to: { name: '', address: to }, subject, text });
      } catch (error) {
        const cause = withoutAddresses(error);
        if (isFinal(error)) throw new UndeliverableError('The mail was refused.', { cause });
        throw cause;
      }
    },
    close() {
      transport.close();
      return Promise.resolve();
    },
  };
}

/** SMTP's 5xx answers are final, except those about our own login or connection. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false;
  if (error.code !== 'EENVELOPE' && error.code !== 'EMESSAGE') return false;
  return !('responseCode' in error) || typeof error.responseCode !== 'number' || error.responseCode >= 500;
}
