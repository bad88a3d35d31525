import { notFound } from '@taskmesh/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { longBodyOf } from '../../http/long-bodies.ts';
import { addOtherMethods } from '../../http/other-methods.ts';
import { requireOperator } from './access.ts';
import { answerWork, sendAnswer, type BackupAnswer } from './answers.ts';
import type { BackupContext } from './routes.ts';

export const BACKUPS_PATH = '/api/backups';
const FILE_PATH = `${BACKUPS_PATH}/:file`;
export const SCAN_PATH = `${BACKUPS_PATH}/scan`;
const VERIFY_PATH = `${FILE_PATH}/verify`;

const unknownFile = () => notFound('There is no such backup file.');

/** Making, listing, fetching, bringing, checking and deleting archives. */
export function archiveRoutes(scope: FastifyInstance, parts: BackupContext): void {
  const { backup } = parts.connections;
  const onDefect = (request: FastifyRequest) => (error: unknown) =>
    parts.log.error({ err: error, requestId: request.id }, 'request failed');

  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    handle: (request: FastifyRequest, reply: FastifyReply, file: string) => Promise<FastifyReply | undefined>,
  ) =>
    scope.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : method,
      url,
      handler: async (request, reply) => {
        requireOperator(parts, request);
        return handle(request, reply, fileIn(request));
      },
    });

  route('POST', BACKUPS_PATH, (request, reply) =>
    answerWork(request, reply, {
      run: async (onProgress) => done(201, 'Backup made.', await backup.create(onProgress)),
      onDefect: onDefect(request),
    }),
  );
  route('GET', BACKUPS_PATH, async (_request, reply) => {
    const data = await backup.list();
    const message = data.length === 1 ? '1 backup found.' : `${data.length} backups found.`;
    return sendAnswer(reply, { status: 200, body: { success: true, message, count: data.length, data } });
  });
  addOtherMethods(scope, BACKUPS_PATH, ['GET', 'HEAD', 'POST'], 'backup');

  route('POST', SCAN_PATH, (request, reply) =>
    answerWork(request, reply, {
      run: async (onProgress) => {
        const scan = await backup.scan(onProgress);
        return done(200, `Archives: ${scan.archives}; new to the list: ${scan.added}.`, scan);
      },
      onDefect: onDefect(request),
    }),
  );
  addOtherMethods(scope, SCAN_PATH, ['POST'], 'backup');

  route('GET', FILE_PATH, async ({ method }, reply, file) => {
    const archive = method === 'HEAD' ? await backup.find(file) : await backup.download(file);
    if (!archive) throw unknownFile();
    const { sizeBytes, sha256 } = archive;
    if (sha256) reply.header('etag', `"${sha256}"`);
    reply
      .header('content-type', file.endsWith('.age') ? 'application/octet-stream' : 'application/gzip')
      .header('content-length', String(sizeBytes))
      .header('content-disposition', `attachment; ${fileNameOf(file)}`)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff');
    return reply.send('content' in archive ? archive.content : undefined);
  });
  route('PUT', FILE_PATH, async ({ raw }, reply, file) => {
    const content = longBodyOf(raw);
    try {
      return sendAnswer(reply, done(201, 'Archive stored.', await backup.upload(file, content)));
    } finally {
      content.destroy();
    }
  });
  route('DELETE', FILE_PATH, async (_request, reply, file) => {
    if (!(await backup.remove(file))) throw unknownFile();
    return sendAnswer(reply, done(200, 'Backup deleted.'));
  });
  addOtherMethods(scope, FILE_PATH, ['GET', 'HEAD', 'PUT', 'DELETE'], 'backup');

  route('POST', VERIFY_PATH, (request, reply, file) =>
    answerWork(request, reply, {
      run: async (onProgress) =>
        done(
          200,
          'The archive can be restored: a test restore of all its stores succeeded.',
          await backup.verify(file, onProgress),
        ),
      onDefect: onDefect(request),
    }),
  );
  addOtherMethods(scope, VERIFY_PATH, ['POST'], 'backup');
}

function done(status: number, message: string, data?: object): BackupAnswer {
  return { status, body: { success: true, message, ...(data && { data }) } };
}

function fileIn({ params }: FastifyRequest): string {
  const { file } = params as { file?: unknown }; // Fastify's parameters are always an object
  return typeof file === 'string' ? file : '';
}

/** RFC 6266: letters that every client reads, and the very name for those that read more. */
function fileNameOf(file: string): string {
  const plain = file.replaceAll(/[^\w.-]/g, '_');
  const whole = encodeURIComponent(file).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return plain === file ? `filename="${plain}"` : `filename="${plain}"; filename*=UTF-8''${whole}`;
}
