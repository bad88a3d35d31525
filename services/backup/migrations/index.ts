import { Catalogue, Included } from './0001-catalogue.ts';

/** In order. Never change a released name: the database has recorded it, and 0.1.0 looks for it after a rollback. */
export const migrations = [
  { name: '0001-catalogue', class: Catalogue },
  { name: '0002-restores', class: Included },
  { name: '0003-verifications', class: Included },
  { name: '0004-schedule', class: Included },
  { name: '0005-restore-outcomes', class: Included },
  { name: '0006-proofs', class: Included },
  { name: '0007-keeping', class: Included },
  { name: '0008-safety-backups', class: Included },
  { name: '0009-unfit-reasons', class: Included },
];
