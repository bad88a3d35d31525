import type { AuthConfig } from '../config.ts';
import type { CommonParts } from '../common-parts.ts';
import { createRecoveryOutbox } from './recovery-outbox.ts';
import { createRecoveryRepository } from './recovery.repository.ts';
import { createRecoveryService } from './recovery.service.ts';

/** New passwords for those who lost theirs, with a worker that sends the mails. */
export function createRecovery({ publicUrl }: AuthConfig, common: CommonParts) {
  const repository = createRecoveryRepository(common.database);
  const worker = common.mailWorker(createRecoveryOutbox({ repository, publicUrl, clock: common.clock }));
  return { worker, service: createRecoveryService({ ...common, repository, onRequested: worker.wake }) };
}
