import { notFound } from '@taskmesh/errors';
import type { BackupWork, RestoreEnd } from '@taskmesh/internal-api';
import { operatorEndpoint, type Endpoint, type Exchange } from '../endpoint.ts';
import { OPERATIONS } from '../operations.ts';
import type { QueryRules } from '../request/query.ts';
import {
  backupMessage,
  newEpoch,
  restoreAnswer,
  restoreForecast,
  undoableRestore,
  workLine,
} from '../schemas/backups.ts';
import { done, endOf } from './answers.ts';
import { dryRunQuery, epochQuery, foreignRestoreQuery, restoreQuery, undoQuery, type RestoreQuery } from './queries.ts';

/** Restores, dry runs, undo, and the follow-up of a restore by other means. */
export const restoreEndpoints = (backup: BackupWork): readonly Endpoint[] => [
  restoreEndpoint({
    query: restoreQuery,
    restore: ({ query: { file, parameters }, onProgress }) => backup.restore(file, onProgress, parameters),
  }),
  operatorEndpoint({
    method: 'POST',
    // A path of its own, so that a version that lacks it cannot mistake the request for a restore.
    path: '/backup/dry-run',
    name: 'dryRunRestore',
    summary: 'Try a restore',
    description:
      'Goes the whole way of a restore but its last step: the data stay as they are. Tells what would change, and what would be in the way now. 409 with the reason when the archive is not fit for such a restore.',
    query: dryRunQuery,
    status: 200,
    answerSchema: restoreForecast,
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ query: { file, parameters }, onProgress }) => {
      const forecast = await backup.dryRun(file, onProgress, parameters);
      return done(`The restore could${forecast.possible ? '' : ' not'} be done now. Nothing was changed.`, forecast);
    },
  }),
  operatorEndpoint({
    method: 'POST',
    path: '/backup/new-epoch',
    name: 'beginNewEpoch',
    summary: 'Let clients begin anew',
    description:
      'For who has put the database of the tasks back to an earlier state by other means (a physical restore): ends all feeds and makes all cursors from before worthless, so that clients read their lists anew. 409 when the clock is evidently behind and `atLeast` is not given.',
    query: epochQuery,
    status: 200,
    answerSchema: newEpoch,
    errors: ['CONFLICT'],
    handle: async ({ query: atLeast }) => {
      const data = await backup.newEpoch(atLeast);
      return done(`The epoch ${data.epoch} has begun; clients read their lists anew.`, data);
    },
  }),
  operatorEndpoint({
    method: 'POST',
    path: '/backup/undo',
    name: 'undoRestore',
    summary: 'Take the last restore back',
    description:
      'Brings the stores back that the last restore replaced, while they are kept (`RESTORE_KEEP_OLD`), in one step. What was written since is kept in its turn: a second call brings it back. 404 when nothing is kept, 409 when it is another restore than that of `restoredAt`.',
    query: undoQuery,
    status: 200,
    answerSchema: backupMessage,
    exampleMessage:
      'Taken back: the restore of taskmesh-20261120T100000Z-5f1e2d3c4b5a.tar.gz from 2026-11-21T09:00:00.000Z. What it replaced is kept until 2026-11-22T09:00:00.000Z: another undo brings it back.',
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async ({ query: restoredAt, onProgress }) => endOf(await backup.undo(onProgress, restoredAt)),
  }),
  operatorEndpoint({
    method: 'GET',
    path: '/backup/undo',
    name: 'findUndoableRestore',
    summary: 'Tell which restore can be taken back',
    description: '404 when nothing is kept.',
    status: 200,
    answerSchema: undoableRestore,
    errors: ['NOT_FOUND'],
    handle: async () => {
      const undoable = await backup.undoable();
      if (!undoable) throw notFound('There is no restore whose former stores are still kept.');
      return done('It can be taken back.', undoable);
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

interface RestoreWay {
  needs?: typeof OPERATIONS.restoreBackup;
  query: QueryRules<RestoreQuery>;
  restore(exchange: Exchange<unknown, RestoreQuery>): Promise<RestoreEnd>;
}

function restoreEndpoint({ restore, ...way }: RestoreWay): Endpoint {
  return operatorEndpoint({
    ...way,
    method: 'POST',
    path: '/backup/restore',
    name: 'restoreBackup',
    summary: 'Restore from an archive',
    description:
      'Replaces the stores by what the archive holds, in one step. When the database step fails, the answer is a 200 all the same, the message says so, and the data are as they were.',
    status: 200,
    answerSchema: restoreAnswer,
    lineSchema: workLine,
    errors: ['NOT_FOUND', 'CONFLICT'],
    handle: async (exchange) => {
      const { allowLoss = false, safetyBackup = false } = exchange.query.parameters;
      return endOf(await restore(exchange), { hasLists: allowLoss || safetyBackup });
    },
  });
}
