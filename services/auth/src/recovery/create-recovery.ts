import type { AuthConfig } from '../config.ts';
import type { Shared } from '../shared.ts';
import { createRecoveryOutbox } from './recovery-outbox.ts';
import { createRecoveryRepository } from './recovery.repository.ts';
import { createRecoveryService } from './recovery.service.ts';

/** New passwords for those who lost theirs, with a worker that sends the mails. */
export function createRecovery({ publicUrl }: AuthConfig, shared: Shared) {
  const repository = createRecoveryRepository(shared.database);
  const worker = shared.mailWorker(createRecoveryOutbox({ repository, publicUrl, clock: shared.clock }));
  return { worker, service: createRecoveryService({ ...shared, repository, onRequested: worker.wake }) };
}
