import { EPOCH_PARAMETERS, leastEpochOf, refuseOthers } from '@taskmesh/internal-api';
import type { FastifyInstance } from 'fastify';
import { addOtherMethods } from '../../http/other-methods.ts';
import { requireOperator } from './access.ts';
import { sendAnswer } from './answers.ts';
import type { BackupContext } from './routes.ts';

export const NEW_EPOCH_PATH = '/api/backup/new-epoch';

/** `POST /api/backup/new-epoch`: after the stores were put back by other means. Our own service alone can do that. */
export function newEpochRoute(scope: FastifyInstance, parts: BackupContext): void {
  scope.post(NEW_EPOCH_PATH, async (request, reply) => {
    requireOperator(parts, request);
    refuseOthers(request.query, EPOCH_PARAMETERS);
    const data = await parts.connections.backup.newEpoch(leastEpochOf(request.query));
    const message = `The epoch ${data.epoch} has begun; clients read their lists anew.`;
    return sendAnswer(reply, { status: 200, body: { success: true, message, data } });
  });
  addOtherMethods(scope, NEW_EPOCH_PATH, ['POST'], 'backup');
}
