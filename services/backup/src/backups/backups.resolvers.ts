import { requireOperator } from '@taskmesh/subgraph';
import type { MutationResolvers, QueryResolvers, Resolvers } from '../graphql/types.generated.ts';
import type { BackupService } from './backup.service.ts';

export function createBackupsResolvers(service: BackupService): Pick<Resolvers, 'Backup'> & {
  Query: Pick<QueryResolvers, 'backups' | 'backup'>;
  Mutation: Pick<MutationResolvers, 'createBackup' | 'verifyBackup' | 'scanBackups' | 'deleteBackup'>;
} {
  return {
    Query: {
      backups: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.list();
      },
      backup: async (_parent, { file }, { identity }) => {
        requireOperator(identity);
        return (await service.find(file)) ?? null;
      },
    },
    Mutation: {
      createBackup: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.create();
      },
      verifyBackup: (_parent, { file }, { identity }) => {
        requireOperator(identity);
        return service.verify(file);
      },
      scanBackups: (_parent, _args, { identity }) => {
        requireOperator(identity);
        return service.scan();
      },
      deleteBackup: (_parent, { file }, { identity }) => {
        requireOperator(identity);
        return service.remove(file);
      },
    },
    Backup: {
      createdAt: ({ createdAt }) => createdAt.toISOString(),
      verifiedAt: ({ verifiedAt }) => verifiedAt?.toISOString() ?? null,
      unfitAt: ({ unfitAt }) => unfitAt?.toISOString() ?? null,
      unfitReason: ({ unfitAt, unfitReason }) => (unfitAt && unfitReason) ?? null,
    },
  };
}
