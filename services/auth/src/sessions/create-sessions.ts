import type { AuthConfig } from '../config.ts';
import type { CommonParts } from '../common-parts.ts';
import { createSessionMaker } from './new-session.ts';
import { createOwnSessionService } from './own-session.service.ts';
import { createSessionRepository } from './session.repository.ts';
import { createSessionService } from './session.service.ts';
import { createSessionsResolvers } from './sessions.resolvers.ts';

export function createSessions(config: AuthConfig, { database, keys, limits, clock, ids }: CommonParts) {
  const { accessTokenTtlSeconds, refreshTokenTtlDays, maxSessionsPerAccount: mostPerAccount } = config;
  const repository = createSessionRepository(database);
  const maker = createSessionMaker({ accessTokenTtlSeconds, refreshTokenTtlDays, clock, ids, keys });
  return {
    maker,
    sessions: createSessionService({ repository, maker, limits, clock, mostPerAccount }),
    resolvers: createSessionsResolvers(createOwnSessionService({ repository, clock })),
    noteUses: repository.noteUses,
  };
}
