import { createDescriptionCheck, type ApiDescription, type DescriptionCheck } from '@taskmesh/testing/api-description';
import { join } from 'node:path';
import { useProduct } from '../product.ts';
import type { Platform } from './client.ts';

/** The base of links in mails: the address of a proxy, not the one that the product listens on. */
export const PUBLIC_URL = 'https://tasks.example.com';

/** The keys of access tokens under the data directory, by the command that makes them. */
const ACCESS_KEYS = { start: 'keys/access-token-keys.json', stack: 'keys/access-tokens.json' };
type Settings = () => Record<string, string>;

/** Runs the product for the tests of one file with one of its commands, and removes it afterwards. */
export function platformForTests(command: keyof typeof ACCESS_KEYS, settings: Settings = () => ({})) {
  const product = useProduct(command, () => ({ PUBLIC_URL, ...settings() }));
  return platformOf(command, product);
}

/** A running product with this `PUBLIC_URL`, as the contract suite sees it. */
export function platformOf(
  command: keyof typeof ACCESS_KEYS,
  product: () => { url: string; urls?: string[]; dataDir: string },
): () => Platform {
  let description: DescriptionCheck;

  beforeAll(async () => {
    const response = await fetch(`${product().url}/api/openapi.json`);
    description = createDescriptionCheck((await response.json()) as ApiDescription);
  });

  return () => {
    const { url, urls = [url], dataDir } = product();
    const accessKeysFile = join(dataDir, ACCESS_KEYS[command]);
    const identityKeyFile = join(dataDir, 'keys/gateway-identity.json');
    return { url, urls, dataDir, description, publicUrl: PUBLIC_URL, accessKeysFile, identityKeyFile };
  };
}
