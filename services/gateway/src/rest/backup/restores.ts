import { notFound, unavailable } from '@taskmesh/contracts';
import type { BackupWork, RestoreEnd } from '@taskmesh/internal-api';
import type { z } from 'zod';
import {
  type EndpointResponse,
  successResponse,
  type Endpoint,
  endpoint,
  type Exchange,
  type QueryRules,
} from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import { newEpoch, restoreResponse, restoreForecast, undoableRestoreResponse, workLine } from '../schemas/backups.ts';
import { doneSchema } from '../schemas/parts.ts';
import { dryRunQuery, epochQuery, foreignRestoreQuery, restoreQuery, undoQuery, type RestoreQuery } from './queries.ts';

/**
 * Restores, dry runs, undo, and the follow-up to a restore by other means. `work` does what GraphQL cannot carry
 * (ADR 33).
 */
export const restoreEndpoints = (work: BackupWork): readonly Endpoint[] => [
  restoreEndpoint({
    query: restoreQuery,
    restore: ({ query: { file, parameters }, onProgress }) => work.restore(file, onProgress, parameters),
  }),
  endpoint('operator', 'POST /backup/dry-run', {
    // A path of its own, so that a version without dry runs cannot mistake the request for a restore.
    name: 'dryRunRestore',
    summary: 'Dry-run a restore',
    description:
      'Performs all steps of a restore except the last one; the data stay unchanged. Returns what would change and what would currently prevent it. 409 with the reason if the archive cannot be restored this way.',
    query: dryRunQuery,
    responseSchema: restoreForecast,
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ query: { file, parameters }, onProgress }) => {
      const data = await work.dryRun(file, onProgress, parameters);
      return successResponse(`The restore could${data.possible ? '' : ' not'} be done now. Nothing was changed.`, {
        data,
      });
    },
  }),
  endpoint('operator', 'POST /backup/new-epoch', {
    name: 'beginNewEpoch',
    summary: 'Start a new epoch',
    description:
      'Use it after the database of the tasks was reset to an earlier state by other means (a physical restore): it ends all feeds and invalidates all earlier cursors, so that clients reload their lists. 409 if the clock is clearly behind and `atLeast` is not given.',
    needs: OPERATIONS.newEpoch,
    query: epochQuery,
    responseSchema: newEpoch,
    errors: ['CONFLICT'],
    handle: async ({ query: atLeast = null, run }) => {
      const { begun: data } = await run(OPERATIONS.newEpoch, { atLeast });
      return successResponse(`The epoch ${data.epoch} has begun; clients read their lists again.`, { data });
    },
  }),
  endpoint('operator', 'POST /backup/undo', {
    name: 'undoRestore',
    summary: 'Undo the last restore',
    description:
      'Brings back the databases that the last restore replaced, in one step, while they are kept (`RESTORE_KEEP_OLD`). What was written since is kept in turn: a second call brings it back. 404 if nothing is kept, 409 if the last restore is not the one of `restoredAt`, 503 while another restore runs.',
    query: undoQuery,
    responseSchema: doneSchema as z.ZodType<object>,
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ query: restoredAt, onProgress }) => {
      const end = await work.undo(onProgress, restoredAt);
      if (end.outcome === 'BUSY') throw unavailable(end.error ?? end.message);
      return endOf(end);
    },
  }),
  endpoint('operator', 'GET /backup/undo', {
    name: 'findUndoableRestore',
    summary: 'The restore that can be undone',
    description: '404 if nothing is kept.',
    needs: OPERATIONS.undoableRestore,
    responseSchema: undoableRestoreResponse,
    errors: ['NOT_FOUND'],
    handle: async ({ run }) => {
      const { undoable } = await run(OPERATIONS.undoableRestore, {});
      if (!undoable) throw notFound('There is no restore whose former stores are still kept.');
      return successResponse('It can be undone.', { data: undoable });
    },
  }),
];

/** Runs a foreign graph's own mutation, which reports no progress. */
export const foreignRestoreEndpoint = restoreEndpoint({
  needs: OPERATIONS.restoreBackup,
  query: foreignRestoreQuery,
  restore: async ({ query: { file }, run }) => {
    const { restore } = await run(OPERATIONS.restoreBackup, { file });
    return { ...restore, dropped: [] };
  },
});

interface RestoreVariant {
  needs?: typeof OPERATIONS.restoreBackup;
  query: QueryRules<RestoreQuery>;
  restore(exchange: Exchange<unknown, RestoreQuery>): Promise<RestoreEnd>;
}

function restoreEndpoint({ restore, ...variant }: RestoreVariant): Endpoint {
  return endpoint('operator', 'POST /backup/restore', {
    ...variant,
    name: 'restoreBackup',
    summary: 'Restore from an archive',
    description:
      'Replaces the databases with those of the archive, in one step. If the database step fails, the response is still 200, its message says so, and the data are unchanged. 403 also if the name points outside the backup storage, 500 also if the archive cannot be extracted.',
    responseSchema: restoreResponse as z.ZodType<object>, // a failed one has more fields
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async (exchange) => {
      const { allowLoss = false, safetyBackup = false } = exchange.query.parameters;
      return endOf(await restore(exchange), { hasLists: allowLoss || safetyBackup });
    },
  });
}

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
  BUSY: 500, // rule 10; the message says that another restore runs
};

/** The documented response has no lists: they are added only for requests that use undocumented options. */
function endOf(
  { success, message, error, outcome, skipped = [], dropped, safetyBackup, keptUntil }: RestoreEnd,
  { hasLists = false } = {},
): EndpointResponse {
  const lists = {
    ...(skipped.length > 0 && { skipped }),
    ...(dropped.length > 0 && { dropped }),
    ...(safetyBackup && { safetyBackup }),
  };
  return {
    status: STATUS[outcome],
    body: { success, message, ...(!success && { error: error ?? message }), ...(hasLists && lists) },
    lastLine: {
      databaseRestored: outcome.startsWith('RESTORED'),
      ...lists,
      ...(keptUntil !== undefined && { keptUntil }),
    },
  };
}
