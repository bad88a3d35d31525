import type { Clock, Ids } from '@taskmesh/service';
import { createTransport } from 'nodemailer';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mailer } from './mailer.ts';
import { keepLinesWhole } from './plain-lines.ts';

export interface FileMailerOptions {
  dir: string;
  from: string;
  clock: Clock;
  ids: Ids;
}

/** Writes each mail as an `.eml` file that mail programs can open: for machines without a mail server. */
export function createFileMailer({ dir, from, clock, ids }: FileMailerOptions): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  keepLinesWhole(transport);
  return {
    async send({ to, subject, text }) {
      const { message } = await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
      const time = new Date(clock.now()).toISOString().replaceAll(':', '-');
      const file = join(dir, `${time}-${ids.next()}.eml`);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await writeFile(`${file}.part`, message, { mode: 0o600 });
      await rename(`${file}.part`, file); // watchers of the folder see complete mails only
    },
    close: () => Promise.resolve(),
  };
}
