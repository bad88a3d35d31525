import { AppError, forbidden, notFound } from '@taskmesh/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { type Routes, toWireError } from '../calls.ts';
import {
  HEARTBEAT_MS,
  UPLOAD_SILENCE_MS,
  WORK_NAMES,
  WORK_PATH,
  type BackupWork,
  type OnWorkProgress,
  type WorkLine,
  type WorkName,
} from './backup-work.ts';
import { createLines, receiveBody } from './streams.ts';
import { restoreParametersOf, readRestoredAt, type RestoreParameters } from './parameters.ts';

/** Serves the work over HTTP to operators. Bodies are streamed. */
export const backupWorkRoutes =
  (work: BackupWork): Routes =>
  (app, { identityOf, log }) =>
    void app.register(async (scope) => {
      const toLine = (error: unknown) => {
        if (!(error instanceof AppError)) log.error({ err: error }, 'work for an operator failed');
        return { error: toWireError(error) };
      };
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
      scope.addHook('onRequest', async (request) => {
        if (identityOf(request).role !== 'operator') throw forbidden('For operators only.');
      });
      scope.setErrorHandler((error, _request, reply) =>
        reply.code(error instanceof AppError ? error.httpStatus : 500).send(toLine(error)),
      );

      for (const name of WORK_NAMES)
        scope.post(`${WORK_PATH}/${name}`, (request, reply) => {
          const workRequest = {
            file: fileOf(request),
            parameters: restoreParametersOf(request.query),
            restoredAt: readRestoredAt(request.query),
          };
          reply.header('content-type', 'application/x-ndjson');
          return reply.send(linesOf((onProgress) => RUN[name](work, onProgress, workRequest), toLine));
        });

      scope.get(`${WORK_PATH}/archive`, async (request, reply) => {
        const download = await work.download(fileOf(request));
        if (!download) throw notFound('There is no such backup file.');
        return sendArchive(reply, download);
      });
      scope.put(`${WORK_PATH}/archive`, async (request) => {
        const content = receiveBody(request.raw, { silenceMs: UPLOAD_SILENCE_MS });
        try {
          return await work.upload(fileOf(request), content);
        } finally {
          content.destroy();
        }
      });
    });

function sendArchive(reply: FastifyReply, download: NonNullable<Awaited<ReturnType<BackupWork['download']>>>) {
  const { sizeBytes, sha256, content } = download;
  if (sha256) reply.header('etag', `"${sha256}"`);
  return reply
    .header('content-type', 'application/octet-stream')
    .header('content-length', String(sizeBytes))
    .send(content);
}

interface WorkRequest {
  file: string;
  parameters: RestoreParameters;
  restoredAt: string | undefined;
}

const RUN: Record<WorkName, (work: BackupWork, onProgress: OnWorkProgress, request: WorkRequest) => Promise<unknown>> =
  {
    create: (work, onProgress) => work.create(onProgress),
    verify: (work, onProgress, { file }) => work.verify(file, onProgress),
    scan: (work, onProgress) => work.scan(onProgress),
    restore: (work, onProgress, { file, parameters }) => work.restore(file, onProgress, parameters),
    dryRun: (work, onProgress, { file, parameters }) => work.dryRun(file, onProgress, parameters),
    undo: (work, onProgress, { restoredAt }) => work.undo(onProgress, restoredAt),
  };

/** The work continues even if the client disconnects. */
function linesOf(run: (onProgress: OnWorkProgress) => Promise<unknown>, wrap: (error: unknown) => WorkLine): Readable {
  const lines = createLines({ repeatMs: HEARTBEAT_MS });
  void run(lines.progress)
    .then(
      (result): WorkLine => ({ result: result ?? null }),
      (error: unknown) => wrap(error),
    )
    .then(lines.end);
  return lines.stream;
}

function fileOf({ query }: FastifyRequest): string {
  const { file } = query as Record<string, unknown>; // Fastify's queries are always objects
  return typeof file === 'string' ? file : '';
}
