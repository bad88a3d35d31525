import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** Who wanted it: `safety` is what a restore makes before it replaces anything; `unknown` is what the storage has and the catalogue never heard of. */
export type MadeOrigin = 'request' | 'schedule' | 'safety';
export type BackupOrigin = MadeOrigin | 'upload' | 'unknown';

/** Made here, and catalogued then. */
export const isOwn = (origin: BackupOrigin): boolean => origin !== 'upload' && origin !== 'unknown';

/** What the catalogue knows about an archive; the storage alone decides whether there is one. */
export const BackupEntity = defineEntity({
  name: 'Backup',
  tableName: 'backups',
  properties: {
    file: p.text().primary(),
    sizeBytes: p.double(),
    sha256: p.text().nullable(),
    createdAt: p.datetime(3),
    origin: p.text().$type<BackupOrigin>().default('request'),
    stores: p.array<string>().columnType('text[]'),
    /** As the storage said when the archive was catalogued. */
    modifiedAt: p.datetime(3).nullable(),
    /** When a restore last proved it, or showed that it is not fit: one of them at the most. */
    verifiedAt: p.datetime(3).nullable(),
    unfitAt: p.datetime(3).nullable(),
    /** Why it is not; counts while that is so. */
    unfitReason: p.text().nullable(),
    /** The version of the product that proved it. */
    verifiedVersion: p.text().nullable(),
  },
});

export type Backup = InferEntity<typeof BackupEntity>;

/** Nobody has looked into it yet, or found out what it is. */
export const isNewcomer = ({ stores, unfitAt }: Backup): boolean => stores.length === 0 && !unfitAt;
