import type { Statement } from '@taskmesh/store';

/**
 * Records the result of examining an archive, unless the catalogue has learned more meanwhile. $1: file, $2: size, $3:
 * checksum, $4: created, $5: stores, $6: origin, $7: modified, $8: unfit since, $9: reason
 */
export const RECORD_EXAMINED: Statement = {
  name: 'backup-record-examined',
  text: `
    insert into backups (file, size_bytes, sha256, created_at, stores, origin, modified_at, unfit_at, unfit_reason)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    on conflict (file) do update set
      size_bytes = excluded.size_bytes, sha256 = excluded.sha256, created_at = excluded.created_at,
      stores = excluded.stores, origin = excluded.origin, modified_at = excluded.modified_at,
      unfit_at = excluded.unfit_at, unfit_reason = excluded.unfit_reason, verified_at = null, verified_version = null
    where backups.size_bytes <> excluded.size_bytes or backups.modified_at <> excluded.modified_at
      or (backups.stores = '{}' and backups.unfit_at is null)`,
};
