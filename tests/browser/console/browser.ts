import { provideProgram } from '@taskmesh/local';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const REMEDY =
  'There is no Chromium on this machine. Install it ("apt-get install chromium", "brew install --cask chromium"), ' +
  'or put Chrome on the PATH.';
/** In containers there is often neither a sandbox for root nor a large /dev/shm, and never a graphics card. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'];

/** The system's Chromium (or Chrome), else Debian's package, driven as somebody uses it: by what is written there, and by keys. */
export async function launchBrowser(): Promise<Browser> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const executablePath = await provideProgram(NAMES, { package: 'chromium', log, remedy: REMEDY });
  return chromium.launch({ executablePath, args: ARGS });
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
