import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { authorizationOf, type OperatorCheck } from '../parts.ts';

const BEARER = /^bearer +(\S+) *$/i;
const LOOPBACK = loopback();
const OK: OperatorCheck = { ok: true };

/**
 * With a backup token, whoever has it; without one, whoever is on this machine, is no page in a browser and comes
 * through no proxy: a developer's own client, and nobody by accident.
 */
export function createOperatorCheck(backupToken: string | undefined): (request: IncomingMessage) => OperatorCheck {
  if (backupToken === undefined) return (request) => (isLocal(request) ? OK : { ok: false, status: 403 });
  const expected = Buffer.from(backupToken);
  return (request) => {
    const values = authorizationOf(request);
    const token = values.length === 1 ? BEARER.exec(values[0] ?? '')?.[1] : undefined;
    return token !== undefined && isSame(Buffer.from(token), expected) ? OK : { ok: false, status: 401 };
  };
}

function isLocal({ socket, headers }: IncomingMessage): boolean {
  const address = socket.remoteAddress ?? '';
  if (!isIP(address) || !LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return false;
  return !Object.keys(headers).some(
    (name) =>
      name === 'origin' ||
      name === 'forwarded' ||
      name === 'via' ||
      name === 'x-real-ip' ||
      name.startsWith('x-forwarded-'),
  );
}

function loopback(): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  return list;
}

/** In the same time wherever they differ; only the length of the token can be told from it. */
function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
