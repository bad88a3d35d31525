import { requireUser } from '@taskmesh/internal-api';
import type { FeatureResolvers } from '../graphql/context.ts';
import type { AuditService } from './audit.service.ts';

export function createAuditResolvers(audit: AuditService) {
  return {
    Query: {
      auditEntries: (_parent, { first, after }, { identity }) =>
        audit.list(requireUser(identity).userId, { first: first ?? 100, after: after ?? null }),
    },
    AuditEntry: {
      at: ({ at }) => at.toISOString(),
    },
  } satisfies FeatureResolvers;
}
