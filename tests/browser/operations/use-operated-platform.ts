import { operatorsAddress } from '@taskmesh/local';
import type { Browser } from 'playwright-core';
import { usePlatform } from '../console/use-platform.ts';

/** The platform in one process with this machine's token, and a browser, for the tests of a file. */
export function useOperatedPlatform(): {
  url(): string;
  token(): string;
  /** Where the terminal would show that operators begin. */
  address(): string;
  browser(): Browser;
} {
  const { url, browser, machineToken } = usePlatform();
  return {
    url,
    browser,
    token: () => machineToken()?.token ?? '',
    address: () => operatorsAddress(url(), machineToken(), { isTerminal: true }).split(' ')[0] ?? '',
  };
}
