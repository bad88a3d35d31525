import type { DescriptionCheck } from '@taskmesh/testing/api-description';

/** A running product as the contract suite sees it: its address, and what its operator finds in its folders. */
export interface Platform {
  url: string;
  /** Compares responses with `/api/openapi.json`, and knows which came about. */
  description: DescriptionCheck;
  /** Where links in mails lead. */
  publicUrl: string;
  dataDir: string;
  /** The JWK set that signs access tokens, with its private halves. */
  accessKeysFile: string;
  /** The private key of an internal signer, where services talk over HTTP. */
  identityKeyFile?: string;
}
