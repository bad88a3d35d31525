import { errorMessage } from '@taskmesh/contracts/error-details';
import { ConfigError } from '@taskmesh/service';
import type { BackupConfig } from '../config.ts';
import { createArchiveCipher, type ArchiveCipher } from './archive-cipher.ts';

/** @throws ConfigError for invalid keys and recipients, and when what is to be verified could not be opened */
export async function createCipher(config: BackupConfig): Promise<ArchiveCipher | undefined> {
  const { recipients, schedule, verifiesScheduled, verifySchedule } = config;
  const identities = config.secrets.keys;
  await createArchiveCipher({ identities, recipients: [] }).catch((error: unknown) => {
    throw new ConfigError([`BACKUP_KEY_FILE holds a key that is none: ${errorMessage(error)}`]);
  });
  const cipher = await createArchiveCipher({ identities, recipients }).catch((error: unknown) => {
    throw new ConfigError([
      `BACKUP_RECIPIENTS must be age recipients (age1…) with commas between them: ${errorMessage(error)}`,
    ]);
  });
  const proves = (schedule !== undefined && verifiesScheduled) || verifySchedule !== undefined;
  if (cipher && !cipher.opensOwn && proves)
    throw new ConfigError([
      'BACKUP_KEY_FILE opens nothing that BACKUP_RECIPIENTS encrypts, so nothing could be proved: add the key of one of them, or set BACKUP_VERIFY=false',
    ]);
  return cipher;
}
