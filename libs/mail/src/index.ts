export { createMailer, type MailSettings } from './create-mailer.ts';
export { createFileMailer } from './file-mailer.ts';
export { UndeliverableError, type Mail, type Mailer } from './mailer.ts';
export { createSmtpMailer } from './smtp-mailer.ts';
