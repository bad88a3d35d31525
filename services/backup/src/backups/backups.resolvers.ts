import { requireOperator } from '@taskmesh/subgraph';
import type { MutationResolvers, Resolvers } from '../graphql/types.generated.ts';
import type { BackupService } from './backup.service.ts';

export function createBackupsResolvers(service: BackupService): Pick<Resolvers, 'Query' | 'Backup'> & {
  Mutation: Pick<MutationResolvers, 'createBackup' | 'deleteBackup'>;
} {
  return {
    Query: {
      backups: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.list();
      },
    },
    Mutation: {
      createBackup: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.create();
      },
      deleteBackup: (_parent, { file }, { identity }) => {
        requireOperator(identity);
        return service.remove(file);
      },
    },
    Backup: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      verifiedAt: ({ verifiedAt }) => verifiedAt?.toISOString() ?? null,
    },
  };
}
