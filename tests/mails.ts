import { eventually } from '@taskmesh/testing';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the mails to an address that the product wrote as files, oldest first. */
export function mailsTo(dataDir: string, email: string): string[] {
  const dir = join(dataDir, 'mail');
  const files = existsSync(dir) ? readdirSync(dir).filter((name) => name.endsWith('.eml')) : [];
  return files
    .toSorted()
    .map((name) => readFileSync(join(dir, name), 'utf8'))
    .filter((mail) => mail.includes(`To: ${email}`));
}

/** Finds a link to a page of ours that stands alone on its line. */
export function linkIn(mail: string, page: string): { origin: string; token: string } | undefined {
  const [, origin, token] = new RegExp(`^(\\S+)/${page}#token=(\\S+)$`, 'm').exec(mail) ?? [];
  return origin && token ? { origin, token } : undefined;
}

/** Waits for a mail with a link to a page of ours, and returns the token of the newest one. */
export const mailedToken = (dataDir: string, email: string, page: string) =>
  eventually(() => {
    const link = mailsTo(dataDir, email)
      .flatMap((mail) => linkIn(mail, page) ?? [])
      .at(-1);
    if (!link) throw new Error('There is no such mail yet.');
    return link.token;
  });
