import { forOperators } from '@taskmesh/internal-api';
import type { MutationResolvers, QueryResolvers } from '../graphql/types.generated.ts';
import type { DryRun } from './dry-run.ts';
import type { RestoreService } from './restore.service.ts';

export function createRestoreResolvers(
  service: RestoreService,
  dryRun: DryRun,
): {
  Query: Pick<QueryResolvers, 'undoableRestore'>;
  Mutation: Pick<MutationResolvers, 'restoreBackup' | 'dryRunRestore' | 'newEpoch' | 'undoRestore'>;
} {
  return {
    Query: { undoableRestore: forOperators(() => service.undoable()) },
    Mutation: {
      restoreBackup: forOperators(({ file, ...parameters }) => service.restore(file, undefined, parameters)),
      dryRunRestore: forOperators(({ file, ...parameters }) => dryRun(file, undefined, parameters)),
      newEpoch: forOperators(async ({ atLeast }) => ({ epoch: await service.newEpoch(atLeast) })),
      undoRestore: forOperators(({ restoredAt }) => service.undo(undefined, restoredAt)),
    },
  };
}
