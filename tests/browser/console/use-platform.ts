import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually, ownInstallation } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from './browser.ts';

/** The platform in one process, and a browser, for the tests of a file. With settings of their own, if they need some. */
export function usePlatform(settings: () => Promise<Record<string, string>> = async () => ({})): {
  url(): string;
  browser(): Browser;
  /** Of this machine. */
  machineToken(): Embedded['machineToken'];
  linkTo(page: string, email: string): Promise<string>;
} {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-console-'));
  let platform: Embedded;
  let browser: Browser;

  beforeAll(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    const env = {
      DATA_DIR: dataDir,
      PORT: '0',
      LOG_LEVEL: 'warn',
      POSTGRES_URL,
      DATABASE_PREFIX,
      ...(await settings()),
    };
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
    machineToken: () => platform.machineToken,
    /** Where the last mail to somebody leads that has a link to this page. */
    linkTo: (page, email) =>
      eventually(() => {
        const mails = readdirSync(join(dataDir, 'mail')).toSorted();
        const texts = mails.map((name) => readFileSync(join(dataDir, 'mail', name), 'utf8'));
        const link = new RegExp(`^\\S+(/${page}#token=\\S+)$`, 'm');
        const mail = texts.findLast((text) => text.includes(`To: ${email}`) && link.test(text));
        if (mail === undefined) throw new Error('There is no such mail yet.');
        return `${platform.url}${link.exec(mail)?.[1]}`;
      }),
  };
}
