import { forOperators } from '@taskmesh/internal-api';
import type { MutationResolvers, QueryResolvers, Resolvers } from '../graphql/types.generated.ts';
import type { BackupService } from './archive.service.ts';

export function createBackupsResolvers(service: BackupService): Pick<Resolvers, 'Backup'> & {
  Query: Pick<QueryResolvers, 'backups' | 'backup'>;
  Mutation: Pick<MutationResolvers, 'createBackup' | 'verifyBackup' | 'scanBackups' | 'deleteBackup'>;
} {
  return {
    Query: {
      backups: forOperators(() => service.list()),
      backup: forOperators(async ({ file }) => (await service.find(file)) ?? null),
    },
    Mutation: {
      createBackup: forOperators(() => service.create()),
      verifyBackup: forOperators(({ file }) => service.verify(file)),
      scanBackups: forOperators(() => service.scan()),
      deleteBackup: forOperators(({ file }) => service.remove(file)),
    },
    Backup: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      verifiedAt: ({ verifiedAt }) => verifiedAt?.toISOString() ?? null,
      unfitAt: ({ unfitAt }) => unfitAt?.toISOString() ?? null,
      unfitReason: ({ unfitAt, unfitReason }) => (unfitAt && unfitReason) ?? null,
    },
  };
}
