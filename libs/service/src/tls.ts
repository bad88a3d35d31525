import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { ConfigError } from './config.ts';

/** PEM contents, as Node's TLS accepts them. */
export interface TlsFiles {
  /** Trusted authorities, replacing Node's. */
  ca?: string;
  cert?: string;
  key?: string;
}

/** The parameters of a server's URL that name the files, as in PostgreSQL's URLs. */
const PARAMETERS = { ca: 'sslrootcert', cert: 'sslcert', key: 'sslkey' } as const;

/**
 * Reads the PEM files named by a URL's parameters, and removes these from `parameters`.
 * @throws ConfigError, with the setting's name, when a file cannot be read or used, or when the URL does not use TLS
 */
export function extractTlsFiles(
  parameters: URLSearchParams,
  { setting, missingProtocol }: { setting: string; missingProtocol?: string | false },
): TlsFiles {
  const problems: string[] = [];
  const files: TlsFiles = {};
  for (const [kind, parameter] of Object.entries(PARAMETERS) as [keyof TlsFiles, string][]) {
    const file = parameters.get(parameter);
    parameters.delete(parameter);
    if (!file) continue;
    try {
      files[kind] = readFileSync(file, 'utf8');
      if (kind !== 'key') createSecureContext({ [kind]: files[kind] });
      if (!/-----BEGIN /.test(files[kind])) throw new Error('no PEM');
    } catch {
      problems.push(`${parameter} in ${setting} must name a readable PEM file (is: ${JSON.stringify(file)})`);
    }
    // Ignoring the file would mean an unencrypted connection.
    if (missingProtocol) problems.push(`${setting} must start with ${missingProtocol}// where it has ${parameter}`);
  }
  if (problems.length === 0 && (files.cert || files.key) && !isUsablePair(files))
    problems.push(`sslcert and sslkey in ${setting} must name a certificate and its private key, without a passphrase`);
  if (problems.length > 0) throw new ConfigError(problems);
  return files;
}

function isUsablePair({ cert, key }: TlsFiles): boolean {
  try {
    createSecureContext({ cert, key });
    return cert !== undefined && key !== undefined;
  } catch {
    return false;
  }
}

/** Why a configured server cannot be used. `reason` continues a sentence that begins with the server's name. */
export interface Refusal {
  reason: string;
  /** Whether a person must fix it, because waiting does not help. */
  isPermanent: boolean;
}

const UNTRUSTED = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** Explains a TLS failure; returns undefined for other errors. The second argument names the settings that fix it. */
export function explainTls(
  error: unknown,
  { ca, cert, tls }: { ca: string; cert: string; tls: string },
): Refusal | undefined {
  for (let each = error; Error.isError(each); each = each.cause) {
    const code = 'code' in each ? String(each.code) : '';
    if (UNTRUSTED.has(code)) return permanent(`has a certificate of an authority that is not trusted (${ca})`);
    if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
      return permanent('has a certificate for a different name than the one in its address');
    if (code === 'CERT_HAS_EXPIRED') return permanent('has a certificate that has expired');
    if (/ALERT.*(CERTIFICATE|UNKNOWN_CA)/.test(code))
      return permanent(`does not accept our certificate, or requires one (${cert})`);
    if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code))
      return permanent(`does not use TLS on this port (${tls})`);
    // Node's message. A server that shuts down at this moment causes the same.
    if (each.message.includes('disconnected before secure TLS connection'))
      return {
        reason: `closes the connection during the TLS handshake; it may not use TLS on this port (${tls})`,
        isPermanent: false,
      };
  }
  return undefined;
}

const permanent = (reason: string): Refusal => ({ reason, isPermanent: true });
