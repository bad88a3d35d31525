import type { FastifyReply } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import Negotiator from 'negotiator';
import { leaveUncounted } from '../http/unread-answers.ts';
import { addVary } from '../http/vary.ts';

/** By the name of the coding, the better one first. */
const ENDINGS = { br: '.br', gzip: '.gz' };

export interface Asset {
  bytes: Buffer;
  /** The same, as compressed files beside it have it. */
  compressed: { coding: string; bytes: Buffer }[];
}

/** Several files become one. */
export function readAsset(file: string | URL | URL[]): Asset {
  if (Array.isArray(file)) return { bytes: Buffer.concat(file.map((each) => readFileSync(each))), compressed: [] };
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  const compressed = Object.entries(ENDINGS)
    .filter(([, ending]) => existsSync(path + ending))
    .map(([coding, ending]) => ({ coding, bytes: readFileSync(path + ending) }));
  return { bytes: readFileSync(path), compressed };
}

/** Sends it in the best coding that the client takes (RFC 9110, 12.5.3). */
export function sendAsset(
  reply: FastifyReply,
  { bytes, compressed }: Asset,
  accepted: string | string[] | undefined,
): FastifyReply {
  leaveUncounted(reply.raw);
  if (compressed.length === 0) return reply.send(bytes);
  addVary(reply, 'Accept-Encoding');
  const taken = new Negotiator({ headers: { 'accept-encoding': String(accepted ?? '') } }).encodings(
    compressed.map(({ coding }) => coding),
  );
  const best = compressed.find(({ coding }) => taken.includes(coding));
  return best ? reply.header('content-encoding', best.coding).send(best.bytes) : reply.send(bytes);
}
