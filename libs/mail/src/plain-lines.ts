import type { Transporter } from 'nodemailer';

/** RFC 5322 allows 998 characters per line, not counting the line break. */
const SENDABLE_AS_IT_IS = /^(?:[\t\x20-\x7e]{0,998}\r?\n)*[\t\x20-\x7e]{0,998}$/;

/**
 * nodemailer encodes text with lines beyond 76 characters as quoted-printable, which breaks links and their `=` for
 * readers of the mail's source. ASCII text with lines of allowed length needs no encoding.
 */
export function keepLongLines(transport: Pick<Transporter, 'use'>): void {
  transport.use('stream', (mail, done) => {
    const { text } = mail.data;
    if (typeof text === 'string' && SENDABLE_AS_IT_IS.test(text)) {
      Object.assign(mail.message, { getTransferEncoding: () => '7bit' });
    }
    done();
  });
}
