import type { DescriptionCheck } from '@taskmesh/testing/api-description';

/** A running product as the contract suite sees it: its address, and the files that an operator can see. */
export interface Platform {
  url: string;
  /** Compares responses with `/api/openapi.json`, and records which ones occurred. */
  description: DescriptionCheck;
  /** The base of links in mails. */
  publicUrl: string;
  dataDir: string;
  /** The JWK set that signs access tokens, with the private keys. */
  accessKeysFile: string;
  /** The private key of an internal signer, if services communicate over HTTP. */
  identityKeyFile?: string;
}
