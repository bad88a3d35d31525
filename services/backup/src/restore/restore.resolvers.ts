import { requireOperator } from '@taskmesh/subgraph';
import type { MutationResolvers, RestoreResult } from '../graphql/types.generated.ts';
import type { RestoreOutcome } from './restore-outcome.ts';
import type { RestoreService } from './restore.service.ts';

export function createRestoreResolvers(service: RestoreService): {
  Mutation: Pick<MutationResolvers, 'restoreBackup'>;
} {
  return {
    Mutation: {
      restoreBackup: async (_parent, { file, allowLoss }, { identity }) => {
        requireOperator(identity);
        return restoreResultOf(await service.restore(file, { allowsLoss: allowLoss ?? false }));
      },
    },
  };
}

/** What the caller hears of an outcome. */
export function restoreResultOf(outcome: RestoreOutcome): RestoreResult {
  switch (outcome.kind) {
    case 'restored':
      return {
        ...done('RESTORED', 'Database restored; the application may need a restart.'),
        dropped: outcome.dropped,
      };
    case 'processed':
      return done(
        'PROCESSED',
        `Archive processed: the database was not restored (${outcome.why}). No restart is needed.`,
      );
    case 'file-missing':
      return refused('FILE_MISSING', 'The name of a backup file is needed.');
    case 'outside':
      return refused('FILE_OUTSIDE', 'The file lies outside of the backups directory.');
    case 'not-found':
      return refused('FILE_NOT_FOUND', 'There is no such backup file.');
    case 'extraction-failed':
      return refused('EXTRACTION_FAILED', outcome.error);
    case 'failed':
      return refused('FAILED', outcome.error);
  }
}

function done(outcome: RestoreResult['outcome'], message: string): RestoreResult {
  return { success: true, message, error: null, databaseRestored: outcome === 'RESTORED', outcome, dropped: [] };
}

function refused(outcome: RestoreResult['outcome'], error: string): RestoreResult {
  return { success: false, message: 'Backup not restored.', error, databaseRestored: false, outcome, dropped: [] };
}
