import type { FastifyInstance } from 'fastify';
import { sendError, toAppError } from '../../http/errors.ts';
import type { GatewayContext } from '../../context.ts';
import { archiveRoutes } from './archives.ts';
import { dryRunRoute } from './dry-run.ts';
import { newEpochRoute } from './new-epoch.ts';
import { restoreRoute, undoRoute } from './restore.ts';

export type BackupContext = Pick<
  GatewayContext,
  'executor' | 'operator' | 'requestCall' | 'log' | 'connections' | 'graph'
>;

/** What operators do with backups. Of a foreign graph, only what it can do itself. */
export function backupRoutes(app: FastifyInstance, parts: BackupContext): void {
  void app.register(async (scope) => {
    scope.setErrorHandler((error, request, reply) => {
      const known = toAppError(error);
      if (known !== error && known.httpStatus === 500)
        parts.log.error({ err: error, requestId: request.id }, 'request failed');
      return sendError(reply, known, 'backup');
    });
    restoreRoute(scope, parts);
    if (!parts.graph.current.supergraph.own) return;
    undoRoute(scope, parts);
    dryRunRoute(scope, parts);
    newEpochRoute(scope, parts);
    archiveRoutes(scope, parts);
  });
}
