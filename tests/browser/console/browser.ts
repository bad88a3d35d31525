import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { CHROMIUM_ARGS, findChromium } from '../find-chromium.ts';

/** The system's Chromium, driven as somebody uses it: by what is written there, and by keys. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium(), args: CHROMIUM_ARGS });
}

/** Somebody at a device of their own: nothing of others is in it. */
export interface Visit {
  page: Page;
  /** What went wrong in the page, what its policy has refused, and what was sent on sockets that were being closed. */
  problems: string[];
  /** Where it asked for something, sockets included. */
  origins: Set<string>;
  close(): Promise<void>;
}

const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.debug('policy: ' + violatedDirective + ' ' + blockedURI));`;

/** What a look at a page may take on a busy machine. */
const PATIENCE_MS = 30_000;

export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  const origins = new Set<string>();
  const note = (address: string) => origins.add(new URL(address.replace(/^ws/, 'http')).origin);
  page.on('pageerror', (error) => problems.push(String(error.stack)));
  page.on('console', (message) => {
    if (/^policy: |CLOSING or CLOSED/.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith('blob:')) note(request.url());
  });
  page.on('websocket', (socket) => note(socket.url()));
  await page.addInitScript(TELL_VIOLATIONS);
  await page.goto(url);
  return { page, problems, origins, close: () => context.close() };
}
