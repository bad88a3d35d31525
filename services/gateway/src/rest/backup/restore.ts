import { badUserInput, notFound } from '@taskmesh/errors';
import {
  refuseOthers,
  seenRestoreOf,
  UNDO_PARAMETERS,
  wishesOf,
  type OnWorkProgress,
  type RestoreEnd,
  type RestoreWishes,
} from '@taskmesh/internal-api';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvalidOperation, type PreparedOperation } from '../../graph/executor.ts';
import { addOtherMethods } from '../../http/other-methods.ts';
import { errorOf } from '../errors.ts';
import { requireOperator } from './access.ts';
import { answerWork, sendAnswer, type BackupAnswer } from './answers.ts';
import { readFileParameter } from './file-parameter.ts';
import type { BackupContext } from './routes.ts';

export const RESTORE_PATH = '/api/backup/restore';
export const UNDO_PATH = '/api/backup/undo';
const OPERATION = `mutation RestRestore($file: String!) {
  restore: restoreBackup(file: $file) { success message error outcome skipped { kind count } }
}`;

/** Rules 1 to 10 of the interface document, as statuses. */
const STATUS = {
  RESTORED: 200,
  RESTORED_CLEAN_UP_PENDING: 200,
  PROCESSED: 200,
  FILE_MISSING: 400,
  FILE_OUTSIDE: 403,
  FILE_NOT_FOUND: 404,
  EXTRACTION_FAILED: 500,
  FAILED: 500,
  UNKNOWN: 500,
  NOTHING_TO_UNDO: 404,
  OTHER_RESTORE: 409,
  BUSY: 409,
};

interface Wanted extends RestoreWishes {
  file: string;
}

type Restore = (request: FastifyRequest, wanted: Wanted, onProgress?: OnWorkProgress) => Promise<RestoreEnd>;

/** `POST /api/backup/restore?file=`: for operators; absent where the graph cannot restore. A body is passed over. */
export function restoreRoute(scope: FastifyInstance, parts: BackupContext): void {
  const restore = restoreOf(parts);
  if (!restore) return;
  scope.post(RESTORE_PATH, (request, reply) => answer(parts, restore, request, reply));
  addOtherMethods(scope, RESTORE_PATH, ['POST'], 'backup');
}

/** `POST /api/backup/undo` takes the last restore back, `GET` tells which one that is. Our own service alone can do that. */
export function undoRoute(scope: FastifyInstance, parts: BackupContext): void {
  scope.route({
    method: ['GET', 'HEAD'],
    url: UNDO_PATH,
    handler: async (request, reply) => {
      requireOperator(parts, request);
      const data = await parts.connections.backup.undoable();
      if (!data) throw notFound('There is no restore whose former stores are still kept.');
      return sendAnswer(reply, { status: 200, body: { success: true, message: 'It can be taken back.', data } });
    },
  });
  scope.post(UNDO_PATH, (request, reply) => {
    requireOperator(parts, request);
    refuseOthers(request.query, UNDO_PARAMETERS);
    const restoredAt = seenRestoreOf(request.query);
    return answerEnd(parts, request, reply, {
      run: (onProgress) => parts.connections.backup.undo(onProgress, restoredAt),
    });
  });
  addOtherMethods(scope, UNDO_PATH, ['GET', 'HEAD', 'POST'], 'backup');
}

/** Our own service is asked without the graph: then there is progress to tell. */
function restoreOf(parts: BackupContext): Restore | undefined {
  const { backup } = parts.connections;
  if (parts.graph.current.supergraph.own)
    return (_request, { file, ...wishes }, onProgress) => backup.restore(file, onProgress, wishes);
  const operation = prepared(parts);
  if (!operation) return undefined;
  return async (request, { file, stores, safetyBackup, decryptedFrom }) => {
    if (stores ?? safetyBackup ?? decryptedFrom)
      throw badUserInput([], 'Neither stores nor a safety backup nor another name can be asked for here.');
    return restoreByGraph(parts, operation, request, file);
  };
}

function prepared({ executor }: BackupContext): PreparedOperation | undefined {
  try {
    return executor.prepare(OPERATION);
  } catch (error) {
    if (error instanceof InvalidOperation) return undefined;
    throw error;
  }
}

async function restoreByGraph(
  { requestCall, executor }: BackupContext,
  operation: PreparedOperation,
  request: FastifyRequest,
  file: string,
): Promise<RestoreEnd> {
  const { data, errors } = await executor.run(operation, { file }, requestCall(request, { role: 'operator' }));
  if (errors?.[0]) throw errorOf(errors[0]);
  return { ...(data?.['restore'] as RestoreEnd), dropped: [] }; // validated against the schema
}

async function answer(parts: BackupContext, restore: Restore, request: FastifyRequest, reply: FastifyReply) {
  requireOperator(parts, request);
  const named = readFileParameter(request.raw.url ?? '');
  if ('refused' in named) {
    const { status, refused } = named;
    return sendAnswer(reply, { status, body: { success: false, message: refused, error: refused } });
  }
  const wanted = { file: named.file, ...wishesOf(request.query) };
  const run = (onProgress?: OnWorkProgress) => restore(request, wanted, onProgress);
  return answerEnd(parts, request, reply, { run, hasLists: wanted.allowLoss === true || wanted.safetyBackup === true });
}

function answerEnd(
  { log }: BackupContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { run, hasLists = false }: { run: (onProgress?: OnWorkProgress) => Promise<RestoreEnd>; hasLists?: boolean },
) {
  return answerWork(request, reply, {
    run: async (onProgress) => answerOf(await run(onProgress), hasLists),
    onDefect: (error) => log.error({ err: error, requestId: request.id }, 'restore failed'),
  });
}

/** The documented answer has no lists: only who asks for what the document does not know is told them in it. */
function answerOf(
  { success, message, error, outcome, skipped = [], dropped, safetyBackup, keptUntil }: RestoreEnd,
  hasLists: boolean,
): BackupAnswer {
  const lists = {
    ...(skipped.length > 0 && { skipped }),
    ...(dropped.length > 0 && { dropped }),
    ...(safetyBackup && { safetyBackup }),
  };
  return {
    status: STATUS[outcome],
    body: { success, message, ...(!success && { error: error ?? message }), ...(hasLists && lists) },
    inLines: {
      databaseRestored: outcome.startsWith('RESTORED'),
      ...lists,
      ...(keptUntil !== undefined && { keptUntil }),
    },
  };
}
