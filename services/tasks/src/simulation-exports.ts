/** Parts of the feed and of account deletion, for simulations without servers. Not for production. */
export { partOf, type ChangeRow } from './feed/change.ts';
export { createCursors } from './feed/cursors.ts';
export { createFeedRepository } from './feed/feed.repository.ts';
export { createFeedService } from './feed/feed.service.ts';
export { createAccountLogReader, createClosedOwners, createOwnerEraser } from './owners/closed-owners.ts';
export { createOwnerRepository } from './owners/owner.repository.ts';
export { createRelay } from './relay/relay.ts';
export type { RelayMetrics } from './metrics.ts';
export { createRelayRepository } from './relay/relay.repository.ts';
export { RELAY_BACKOFF } from './config.ts';
