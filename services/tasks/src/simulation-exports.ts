/** The parts of the feed and of deletions without servers, for simulations. Not for production. */
export type { ChangeRow } from './feed/change.ts';
export { createCursors } from './feed/cursors.ts';
export { createFeedRepository } from './feed/feed.repository.ts';
export { createFeedService } from './feed/feed.service.ts';
export { partOf } from './feed/change.ts';
export { createClosedOwners } from './owners/closed-owners.ts';
export { createOwnerEraser } from './owners/closed-owners.ts';
export { createOwnerRepository } from './owners/owner.repository.ts';
export { createAccountLogReader } from './owners/closed-owners.ts';
export { createRelay } from './relay/relay.ts';
export type { RelayMetrics } from './metrics.ts';
export { createRelayRepository } from './relay/relay.repository.ts';
export { RELAY_BACKOFF } from './config.ts';
