import { forbidden, unauthenticated } from '@taskmesh/contracts';
import type { FastifyRequest } from 'fastify';
import type { GatewayContext } from '../../context.ts';

const FOREIGN = 'This is for callers on this machine (localhost) only, unless there is a backup token.';

/** @throws AppError UNAUTHENTICATED, FORBIDDEN or RATE_LIMITED unless the caller is an operator */
export async function requireOperator(
  { operators }: Pick<GatewayContext, 'operators'>,
  { raw }: FastifyRequest,
): Promise<void> {
  const check = await operators.check(raw);
  if (check.ok) return;
  throw check.status === 401 ? unauthenticated('The token of operators is missing or wrong.') : forbidden(FOREIGN);
}

/** For who is about to show that they are an operator. @throws AppError FORBIDDEN where nobody could be one */
export function requireOperatorsPlace({ operators }: Pick<GatewayContext, 'operators'>, { raw }: FastifyRequest): void {
  if (!operators.isInPlace(raw)) throw forbidden(FOREIGN);
}
