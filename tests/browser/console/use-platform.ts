import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually, ownInstallation } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from './browser.ts';

/** The platform in one process, and a browser, for the tests of a file. */
export function usePlatform(): { url(): string; browser(): Browser; linkTo(email: string): Promise<string> } {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-console-'));
  let platform: Embedded;
  let browser: Browser;

  beforeAll(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', POSTGRES_URL, DATABASE_PREFIX };
    platform = await startEmbedded({ env, progress: () => {} });
    browser = await launchBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  }, 60_000);
  return {
    url: () => platform.url,
    browser: () => browser,
    /** In the last mail to somebody: where it leads here. */
    linkTo: (email) =>
      eventually(() => {
        const mails = readdirSync(join(dataDir, 'mail')).toSorted();
        const texts = mails.map((name) => readFileSync(join(dataDir, 'mail', name), 'utf8'));
        const link = /^\S+(\/[a-z-]+#token=\S+)$/m.exec(texts.findLast((text) => text.includes(`To: ${email}`)) ?? '');
        if (!link) throw new Error('There is no mail with a link yet.');
        return `${platform.url}${link[1]}`;
      }),
  };
}
