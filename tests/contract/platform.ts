/** A running product as the contract suite sees it: its address, and what its operator finds in its folders. */
export interface Platform {
  url: string;
  /** Where links in mails lead. */
  publicUrl: string;
  dataDir: string;
  /** The JWK set that signs access tokens, with its private halves. */
  accessKeysFile: string;
  /** The private key of an internal signer, where services talk over HTTP. */
  identityKeyFile?: string;
}
