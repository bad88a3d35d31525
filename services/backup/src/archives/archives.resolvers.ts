import { forOperators, type BackupEntry } from '@taskmesh/internal-api';
import type { MutationResolvers, QueryResolvers } from '../graphql/types.generated.ts';
import type { Backup } from './archive.entity.ts';
import type { BackupService } from './archive.service.ts';

export function createBackupsResolvers(service: BackupService): {
  Query: Pick<QueryResolvers, 'backups' | 'backup'>;
  Mutation: Pick<MutationResolvers, 'createBackup' | 'verifyBackup' | 'scanBackups' | 'deleteBackup'>;
} {
  return {
    Query: {
      backups: forOperators(async () => (await service.list()).map(entryOf)),
      backup: forOperators(async ({ file }) => {
        const backup = await service.find(file);
        return backup ? entryOf(backup) : null;
      }),
    },
    Mutation: {
      createBackup: forOperators(async () => entryOf(await service.create())),
      verifyBackup: forOperators(async ({ file }) => entryOf(await service.verify(file))),
      scanBackups: forOperators(() => service.scan()),
      deleteBackup: forOperators(({ file }) => service.remove(file)),
    },
  };
}

/** As callers see it. */
export function entryOf({ file, sizeBytes, sha256, createdAt, origin, stores, ...proof }: Backup): BackupEntry {
  const { verifiedAt, verifiedVersion, unfitAt, unfitReason } = proof;
  return {
    file,
    sizeBytes: sizeBytes,
    sha256: sha256 ?? null,
    createdAt: createdAt.toISOString(),
    origin,
    stores,
    verifiedAt: verifiedAt?.toISOString() ?? null,
    verifiedVersion: verifiedVersion ?? null,
    unfitAt: unfitAt?.toISOString() ?? null,
    unfitReason: (unfitAt && unfitReason) ?? null,
  };
}
