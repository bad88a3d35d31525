import { requireUser } from '@taskmesh/subgraph';
import type { FeatureResolvers } from '../graphql/feature-resolvers.ts';
import type { OwnTrailService } from './user-audit-trail.service.ts';

export function createAuditResolvers(trail: OwnTrailService) {
  return {
    Query: {
      auditEntries: (_parent, { first, after }, { identity }) =>
        trail.list(requireUser(identity).userId, { first: first ?? 100, after: after ?? null }),
    },
    AuditEntry: {
      at: ({ at }) => at.toISOString(),
    },
  } satisfies FeatureResolvers;
}
