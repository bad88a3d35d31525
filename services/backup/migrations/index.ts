import { Catalogue } from './0001-catalogue.ts';
import { Restores } from './0002-restores.ts';
import { Verifications } from './0003-verifications.ts';
import { Schedule } from './0004-schedule.ts';
import { RestoreOutcomes } from './0005-restore-outcomes.ts';
import { Proofs } from './0006-proofs.ts';
import { Keeping } from './0007-keeping.ts';
import { SafetyBackups } from './0008-safety-backups.ts';
import { UnfitReasons } from './0009-unfit-reasons.ts';

/** In order. Never change a released name: the database has recorded it. */
export const migrations = [
  { name: '0001-catalogue', class: Catalogue },
  { name: '0002-restores', class: Restores },
  { name: '0003-verifications', class: Verifications },
  { name: '0004-schedule', class: Schedule },
  { name: '0005-restore-outcomes', class: RestoreOutcomes },
  { name: '0006-proofs', class: Proofs },
  { name: '0007-keeping', class: Keeping },
  { name: '0008-safety-backups', class: SafetyBackups },
  { name: '0009-unfit-reasons', class: UnfitReasons },
];
