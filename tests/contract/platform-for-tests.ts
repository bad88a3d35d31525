import { createDescriptionCheck, type ApiDescription, type DescriptionCheck } from '@taskmesh/testing/api-description';
import { join } from 'node:path';
import { useProduct, type Command } from '../product.ts';
import type { Platform } from './client.ts';

/** The base of links in mails: the address of a proxy, not the one that the product listens on. */
export const PUBLIC_URL = 'https://tasks.example.com';

/** The key files under the data directory, by the command that makes them. */
const KEY_FILES = {
  start: { accessKeysFile: 'keys/access-token-keys.json' },
  stack: { accessKeysFile: 'keys/access-tokens.json', identityKeyFile: 'keys/gateway-identity.json' },
} satisfies Partial<Record<Command, Pick<Platform, 'accessKeysFile' | 'identityKeyFile'>>>;

/** Runs the product for the tests of one file with one of its commands, and removes it afterwards. */
export const platformForTests = (
  command: keyof typeof KEY_FILES,
  settings: () => Record<string, string> = () => ({}),
) =>
  platformOf(
    command,
    useProduct(command, () => ({ PUBLIC_URL, ...settings() })),
  );

/** A running product with this `PUBLIC_URL`, as the contract suite sees it. */
export function platformOf(
  command: keyof typeof KEY_FILES,
  product: () => { url: string; urls?: string[]; dataDir: string },
): () => Platform {
  let description: DescriptionCheck;

  beforeAll(async () => {
    const response = await fetch(`${product().url}/api/openapi.json`);
    description = createDescriptionCheck((await response.json()) as ApiDescription);
  });

  return () => {
    const { url, urls = [url], dataDir } = product();
    const { accessKeysFile, identityKeyFile }: Pick<Platform, 'accessKeysFile' | 'identityKeyFile'> =
      KEY_FILES[command];
    return {
      ...{ url, urls, dataDir, description },
      publicUrl: PUBLIC_URL,
      accessKeysFile: join(dataDir, accessKeysFile),
      ...(identityKeyFile && { identityKeyFile: join(dataDir, identityKeyFile) }),
    };
  };
}
