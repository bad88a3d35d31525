import type { AuthConfig } from '../config.ts';
import type { CommonParts } from '../common-parts.ts';
import { createChangesOutbox } from './changes-outbox.ts';
import { createChangeRepository } from './change.repository.ts';
import { createChangesResolvers } from './changes.resolvers.ts';
import { createEmailChangeService } from './email-change.service.ts';
import { createPasswordChangeService } from './password-change.service.ts';
import { createProfileService } from './profile.service.ts';

/** What owners change of their accounts, with a worker that sends the mails about all changes. */
export function createChanges({ publicUrl }: AuthConfig, common: CommonParts) {
  const repository = createChangeRepository(common.database);
  const worker = common.mailWorker(createChangesOutbox({ ...common, repository, publicUrl }));
  const changing = { ...common, repository, onMail: worker.wake };
  return {
    worker,
    resolvers: createChangesResolvers({
      profiles: createProfileService(changing),
      passwords: createPasswordChangeService(changing),
      emails: createEmailChangeService(changing),
    }),
  };
}
