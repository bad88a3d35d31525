import { generate } from 'selfsigned';

const SETTINGS = { keyType: 'ec', algorithm: 'sha256' } as const;
const altNamesOf = (value: string) => [
  { type: 2 as const, value },
  { type: 7 as const, ip: '127.0.0.1' },
];
const named = (value: string) => [{ name: 'commonName', value }];

/** An authority whose certificates and keys are PEM. */
export async function createAuthority() {
  const authority = await generate(named('an authority'), {
    ...SETTINGS,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    ca: authority.cert,
    /** Issues a certificate for a server at `localhost` and 127.0.0.1, or for its clients. */
    async issue(name = 'localhost') {
      const { cert, private: key } = await generate(named(name), {
        ...SETTINGS,
        ca: { key: authority.private, cert: authority.cert },
        extensions: [
          { name: 'basicConstraints', cA: false },
          { name: 'keyUsage', digitalSignature: true },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          { name: 'subjectAltName', altNames: altNamesOf(name) },
        ],
      });
      return { cert, key };
    },
  };
}
