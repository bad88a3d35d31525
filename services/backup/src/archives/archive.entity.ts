import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** Why an archive exists: `safety` is made before a restore replaces anything; `unknown` was found in the storage. */
export type MadeOrigin = 'request' | 'schedule' | 'safety';
export type BackupOrigin = MadeOrigin | 'upload' | 'unknown';

/** Whether this service made the archive, and so catalogued it. */
export const isOwn = (origin: BackupOrigin): boolean => origin !== 'upload' && origin !== 'unknown';

/** What the catalogue knows about an archive; only the storage decides whether it exists. */
export const BackupEntity = defineEntity({
  name: 'Backup',
  tableName: 'backups',
  properties: {
    file: p.text().primary(),
    sizeBytes: p.double().$type<number>(),
    sha256: p.text().nullable(),
    createdAt: p.datetime(3),
    origin: p.text().$type<BackupOrigin>().default('request'),
    stores: p.array<string>().columnType('text[]'),
    /** The storage's time stamp when the archive was catalogued. */
    modifiedAt: p.datetime(3).nullable(),
    /** When a test restore last succeeded, and when the archive was found unfit; at most one of the two is set. */
    verifiedAt: p.datetime(3).nullable(),
    unfitAt: p.datetime(3).nullable(),
    /** Why the archive is unfit; meaningful only with `unfitAt`. */
    unfitReason: p.text().nullable(),
    verifiedVersion: p.text().nullable(),
  },
});

export type Backup = InferEntity<typeof BackupEntity>;

/** Neither verified nor found unfit. */
export const UNVERIFIED = { verifiedAt: null, verifiedVersion: null, unfitAt: null, unfitReason: null };

/** The stored file's state, as far as the catalogue knows it. */
export const fileStateOf = ({ sizeBytes, modifiedAt, createdAt }: Backup): FileState => ({
  sizeBytes,
  modifiedAt: modifiedAt ?? createdAt,
});

/** The archive has not been examined yet, or its content is still unknown. */
export const isUnexamined = ({ stores, unfitAt }: Backup): boolean => stores.length === 0 && !unfitAt;

export interface FileState {
  sizeBytes: number;
  modifiedAt: Date;
}

/** Whether a file in the storage is the one seen before, and not another of the same name. */
export function isSameFile(one: FileState, other: FileState): boolean {
  const [time, otherTime] = [one.modifiedAt.getTime(), other.modifiedAt.getTime()];
  const inSeconds = time % 1_000 === 0 || otherTime % 1_000 === 0; // a bucket's responses differ in precision
  const isSameTime = inSeconds ? Math.floor(time / 1_000) === Math.floor(otherTime / 1_000) : time === otherTime;
  return one.sizeBytes === other.sizeBytes && isSameTime;
}
