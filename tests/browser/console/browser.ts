import { provideProgram } from '@taskmesh/local';
import { chromium, type Browser, type BrowserContextOptions } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const REMEDY =
  'There is no Chromium on this machine. Install it ("apt-get install chromium", "brew install --cask chromium"), ' +
  'or put Chrome on the PATH.';
/** Containers often lack a sandbox for root and a large /dev/shm, and always a GPU. */
const ARGS = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'];

/** Launches the system's Chromium or Chrome, or Debian's package if there is none. */
export async function launchBrowser(): Promise<Browser> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const executablePath = await provideProgram(NAMES, { package: 'chromium', log, remedy: REMEDY });
  return chromium.launch({ executablePath, args: ARGS });
}

const TELL_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.debug('policy: ' + violatedDirective + ' ' + blockedURI));`;

/** How long one step may take on a busy machine. */
const PATIENCE_MS = 30_000;

/** Opens a page in a browser context of its own, with separate storage and cookies. */
export async function visit(browser: Browser, url: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  /** Uncaught errors, violations of the content security policy, and messages sent on closing sockets. */
  const problems: string[] = [];
  /** The origins of all requests, including sockets. */
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
