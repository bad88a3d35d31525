import type { FastifyReply } from 'fastify';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
  if (compressed.length === 0) return reply.send(bytes);
  addVary(reply, 'Accept-Encoding');
  const taken = codingsIn(String(accepted ?? ''));
  const best = compressed.find(({ coding }) => taken.get(coding) ?? taken.get('*') ?? false);
  return best ? reply.header('content-encoding', best.coding).send(best.bytes) : reply.send(bytes);
}

/** Whether each coding that is named may be used: it may not with a quality of 0. */
function codingsIn(accepted: string): Map<string, boolean> {
  return new Map(
    accepted.split(',').map((each) => {
      const [coding = '', ...parameters] = each
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      return [coding, !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))];
    }),
  );
}
