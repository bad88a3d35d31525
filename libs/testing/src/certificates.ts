import { generate } from 'selfsigned';

/** A certificate and its key, as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface Authority {
  ca: string;
  /** Issues a certificate for a server at `localhost` and 127.0.0.1, or for its clients. */
  issue(name?: string): Promise<Certificate>;
}

const SETTINGS = { keyType: 'ec', algorithm: 'sha256' } as const;
const ALT_NAMES = (value: string) => [
  { type: 2 as const, value },
  { type: 7 as const, ip: '127.0.0.1' },
];
const named = (value: string) => [{ name: 'commonName', value }];

export async function createAuthority(): Promise<Authority> {
  const authority = await generate(named('an authority'), {
    ...SETTINGS,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    ca: authority.cert,
    async issue(name = 'localhost') {
      const { cert, private: key } = await generate(named(name), {
        ...SETTINGS,
        ca: { key: authority.private, cert: authority.cert },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'keyUsage', digitalSignature: true },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          { name: 'subjectAltName', altNames: ALT_NAMES(name) },
        ],
      });
      return { cert, key };
    },
  };
}
