import { requireOperator } from '@taskmesh/subgraph';
import type { Resolvers } from '../graphql/types.generated.ts';
import type { BackupService } from './backup.service.ts';

export function createBackupsResolvers(service: BackupService): Pick<Resolvers, 'Query' | 'Backup'> {
  return {
    Query: {
      backups: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.list();
      },
    },
    Backup: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      verifiedAt: ({ verifiedAt }) => verifiedAt?.toISOString() ?? null,
    },
  };
}
