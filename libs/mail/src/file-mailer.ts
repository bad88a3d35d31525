import type { Clock, Ids, Log } from '@taskmesh/service';
import { createTransport } from 'nodemailer';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mailer } from './mailer.ts';
import { keepLongLines } from './plain-lines.ts';

/** 4 MiB on a disk with blocks of 4 KiB. */
const MAX_FILES = 1_000;

export interface FileMailerOptions {
  dir: string;
  from: string;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/** Writes each mail as an `.eml` file, which mail programs can open, for machines without a mail server. Keeps the newest 1,000. */
export function createFileMailer({ dir, from, clock, ids, log }: FileMailerOptions): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' });
  keepLongLines(transport);

  /** Sorts by name, because names begin with the time. */
  const removeOldest = async (): Promise<void> => {
    const files = (await readdir(dir)).filter((name) => /\.eml(\.part)?$/.test(name)).toSorted();
    for (const name of files.slice(0, -MAX_FILES)) {
      await rm(join(dir, name), { force: true });
      log.warn({ file: name, kept: MAX_FILES }, 'removed the oldest mail file');
    }
  };

  return {
    async send({ to, subject, text }) {
      const { message } = await transport.sendMail({ from, to: { name: '', address: to }, subject, text });
      const time = new Date(clock.now()).toISOString().replaceAll(':', '-');
      const file = join(dir, `${time}-${ids.next()}.eml`);
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const part = `${file}.part`; // watchers of the folder see complete mails only
      try {
        await writeFile(part, message, { mode: 0o600 });
        await rename(part, file);
      } catch (error) {
        await rm(part, { force: true });
        throw error;
      }
      await removeOldest();
    },
    close: () => Promise.resolve(),
  };
}
