import { refuseOthers, RESTORE_PARAMETERS, wishesOf } from '@taskmesh/internal-api';
import type { FastifyInstance } from 'fastify';
import { addOtherMethods } from '../../http/other-methods.ts';
import { requireOperator } from './access.ts';
import { answerWork, sendAnswer } from './answers.ts';
import { readFileParameter } from './file-parameter.ts';
import type { BackupContext } from './routes.ts';

/** A path of its own: what does not know it restores nothing. */
export const DRY_RUN_PATH = '/api/backup/dry-run';

/** `POST /api/backup/dry-run?file=`: what a restore would change. Our own service alone can tell. */
export function dryRunRoute(scope: FastifyInstance, parts: BackupContext): void {
  scope.post(DRY_RUN_PATH, (request, reply) => {
    requireOperator(parts, request);
    const named = readFileParameter(request.raw.url ?? '');
    if ('refused' in named) {
      const { status, refused } = named;
      return sendAnswer(reply, { status, body: { success: false, message: refused, error: refused } });
    }
    const wishes = wishesOf(request.query);
    refuseOthers(request.query, RESTORE_PARAMETERS);
    return answerWork(request, reply, {
      run: async (onProgress) => {
        const data = await parts.connections.backup.dryRun(named.file, onProgress, wishes);
        const message = `The restore could${data.possible ? '' : ' not'} be done now. Nothing was changed.`;
        return { status: 200, body: { success: true, message, data } };
      },
      onDefect: (error) => parts.log.error({ err: error, requestId: request.id }, 'request failed'),
    });
  });
  addOtherMethods(scope, DRY_RUN_PATH, ['POST'], 'backup');
}
