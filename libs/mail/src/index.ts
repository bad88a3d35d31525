import type { Clock, Ids, Log } from '@taskmesh/service';
import { join } from 'node:path';
import { createFileMailer } from './file-mailer.ts';
import type { Mailer } from './mailer.ts';
import { createSmtpMailer } from './smtp-mailer.ts';

export { createFileMailer, createSmtpMailer };
export { UndeliverableError, type Mail, type Mailer } from './mailer.ts';

export interface MailSettings {
  /** If undefined, mails are written as files to `mail` below `dataDir`. */
  smtpUrl: string | undefined;
  from: string;
  dataDir: string;
}

export function createMailer(
  { smtpUrl, from, dataDir }: MailSettings,
  deps: { clock: Clock; ids: Ids; log: Log },
): Mailer {
  if (smtpUrl) return createSmtpMailer({ url: smtpUrl, from });
  return createFileMailer({ dir: join(dataDir, 'mail'), from, ...deps });
}
