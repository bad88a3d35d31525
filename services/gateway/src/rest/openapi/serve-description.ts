import type { FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { acceptsGzip } from '../../http/compress.ts';
import { JSON_TYPE } from '../../http/errors.ts';
import { refuseOtherMethods } from '../../http/method-not-allowed.ts';
import { leaveUncounted } from '../../http/unread-answers.ts';
import { addVary } from '../../http/vary.ts';
import { isKnown } from '../request/preconditions.ts';
import type { OpenApiDocument } from './types.ts';

const READ = ['GET', 'HEAD'];

/** Serialised once and served as it is. */
export function serveDescription(app: FastifyInstance, document: OpenApiDocument): void {
  const url = '/api/openapi.json';
  const bytes = Buffer.from(JSON.stringify(document));
  const forms = [bytes, gzipSync(bytes)].map((form) => ({ form, etag: tagOf(form) }));
  app.route({
    method: READ,
    url,
    handler: (request, reply) => {
      addVary(reply, 'Accept-Encoding').header('x-content-type-options', 'nosniff').header('cache-control', 'no-cache');
      const isCompressed = acceptsGzip(request.headers['accept-encoding']);
      const { form, etag } = forms[isCompressed ? 1 : 0] as (typeof forms)[number];
      if (isCompressed) reply.header('content-encoding', 'gzip');
      reply.header('etag', etag);
      if (isKnown(etag, request.headers['if-none-match'])) return reply.code(304).send();
      leaveUncounted(reply.raw);
      return reply.header('content-type', JSON_TYPE).send(form);
    },
  });
  refuseOtherMethods(app, url, READ);
}

const tagOf = (bytes: Buffer) => `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 16)}"`;
