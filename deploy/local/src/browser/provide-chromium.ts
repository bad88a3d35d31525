import { PlainError } from '../plain-error.ts';
import { canInstallPackages, findProgram, installPackages } from '../programs.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

export interface ChromiumSources {
  find(...names: string[]): string | undefined;
  canInstall(): boolean;
  install(packages: string[], log: (line: string) => void): Promise<void>;
}

const MACHINE: ChromiumSources = { find: findProgram, canInstall: canInstallPackages, install: installPackages };

/**
 * Where a Chromium (or Chrome) lies: the system's, else Debian's package (as root).
 * @throws PlainError naming the remedy when neither is to be had
 */
export async function provideChromium(log: (line: string) => void, sources = MACHINE): Promise<string> {
  const found = sources.find(...NAMES);
  if (found) return found;
  if (sources.canInstall()) {
    await sources.install(['chromium'], log);
    const installed = sources.find(...NAMES);
    if (installed) return installed;
  }
  throw new PlainError(
    'There is no Chromium on this machine. Install it ("apt-get install chromium", "brew install --cask chromium"), ' +
      'or put Chrome on the PATH.',
  );
}
