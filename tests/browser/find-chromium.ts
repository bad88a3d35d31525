import { provideProgram } from '@taskmesh/local';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const REMEDY =
  'There is no Chromium on this machine. Install it ("apt-get install chromium", "brew install --cask chromium"), ' +
  'or put Chrome on the PATH.';

/** In containers there is often neither a sandbox for root nor a large /dev/shm, and never a graphics card. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-background-networking',
];

/** The system's Chromium (or Chrome), else Debian's package. */
export function findChromium(): Promise<string> {
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  return provideProgram(NAMES, { package: 'chromium', log, remedy: REMEDY });
}
