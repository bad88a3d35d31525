import type { Log } from '@taskmesh/service';
import type { BackupService } from '../backups/backup.service.ts';
import type { RunLock } from '../run-lock.ts';
import { superfluous, type KeepRules } from './keep-rules.ts';
import type { ScheduleRepository } from './schedule.repository.ts';

export interface ScheduledBackupsDeps {
  backups: Pick<BackupService, 'create' | 'verify' | 'list' | 'remove'>;
  repository: ScheduleRepository;
  /** Of all instances, one runs. */
  lock: RunLock;
  /** Absent: nothing is ever deleted. */
  keep: KeepRules | undefined;
  /** Whether each archive is proved at once. */
  verifies: boolean;
  log: Log;
}

export interface ScheduledBackups {
  /**
   * Makes the archive of a moment of the schedule, unless another instance has done or does so; then deletes what need not
   * be kept. Nothing is deleted after a failure. @throws Error when there is no archive, or none that is fit
   */
  run(moment: Date): Promise<void>;
  /** The last moment that was taken care of; undefined before the first one. */
  lastMoment(): Promise<Date | undefined>;
}

/** Somebody else takes care. */
export class ScheduleBusy extends Error {
  override readonly name = 'ScheduleBusy';
}

const WAIT_MS = 1_000;

export function createScheduledBackups(deps: ScheduledBackupsDeps): ScheduledBackups {
  const { backups, repository, lock, keep, verifies, log } = deps;

  const runAlone = async (moment: Date) => {
    const last = await repository.lastMoment();
    if (last && last >= moment) return;
    await repository.setLastMoment(moment);
    const { file } = await backups.create(undefined, 'schedule');
    if (verifies) await backups.verify(file);
    log.info({ file, moment, verified: verifies }, 'scheduled backup made');
    if (keep) await deleteSuperfluous(keep);
  };

  /** Only what the schedule made, as the catalogue knows it: never what somebody asked for, sent, or put there. */
  const deleteSuperfluous = async (rules: KeepRules) => {
    const own = (await backups.list()).filter(({ origin }) => origin === 'schedule');
    for (const { file } of superfluous(own, rules)) {
      try {
        await backups.remove(file);
      } catch (error) {
        log.error({ err: error, file }, 'archive not deleted, though it need not be kept');
      }
    }
  };

  return {
    async run(moment) {
      try {
        await lock.run(WAIT_MS, () => runAlone(moment));
      } catch (error) {
        if (!(error instanceof ScheduleBusy)) throw error;
        log.debug({ moment }, 'scheduled backup runs elsewhere');
      }
    },
    lastMoment: () => repository.lastMoment(),
  };
}
