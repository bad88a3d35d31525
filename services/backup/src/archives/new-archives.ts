import { settlesWithin, type Log } from '@taskmesh/service';
import { fileStateOf, isNewcomer, type Backup } from './archive.entity.ts';

export interface NewArchivesDeps {
  take(archive: Backup): Promise<unknown>;
  log: Log;
}

export interface NewArchives {
  /** Starts with those in the list, and waits a little for the end. Returns whether any was new. Never throws. */
  meet(archives: Backup[]): Promise<boolean>;
  stop(): Promise<void>;
}

/** How long the list may wait. */
const WAIT_MS = 3_000;

function stateOf(archive: Backup): string {
  const { sizeBytes, modifiedAt } = fileStateOf(archive);
  return `${sizeBytes} ${modifiedAt.getTime()}`;
}

export function createNewArchives({ take, log }: NewArchivesDeps): NewArchives {
  /** Archives that remained unknown, by file, with the state that was examined. */
  const met = new Map<string, string>();
  let meeting: Promise<void> | undefined;
  let stopped = false;

  const meetAll = async (archives: Backup[]) => {
    for (const archive of archives) {
      if (stopped) return;
      met.set(archive.file, stateOf(archive));
      await take(archive).catch((error: unknown) => {
        met.delete(archive.file);
        log.warn({ err: error, file: archive.file }, 'archive not looked into');
      });
    }
  };

  return {
    async meet(archives) {
      const names = new Set(archives.map(({ file }) => file));
      for (const file of met.keys()) if (!names.has(file)) met.delete(file);
      const fresh = archives.filter((archive) => isNewcomer(archive) && met.get(archive.file) !== stateOf(archive));
      if (fresh.length === 0 || stopped) return false;
      meeting ??= meetAll(fresh).finally(() => (meeting = undefined));
      await settlesWithin(meeting, WAIT_MS);
      return true;
    },

    async stop() {
      stopped = true;
      await meeting;
    },
  };
}
