import { forbidden, unauthenticated } from '@taskmesh/errors';
import type { FastifyRequest } from 'fastify';
import type { GatewayContext } from '../../context.ts';

const FOREIGN = 'This is for callers on this machine (localhost) only, unless there is a backup token.';

/** @throws AppError UNAUTHENTICATED or FORBIDDEN unless the caller is an operator */
export function requireOperator({ operator }: Pick<GatewayContext, 'operator'>, { raw }: FastifyRequest): void {
  const check = operator(raw);
  if (check.ok) return;
  throw check.status === 401 ? unauthenticated('The token of operators is missing or wrong.') : forbidden(FOREIGN);
}

/** For who is about to show that they are an operator. @throws AppError FORBIDDEN where nobody could be one */
export function requireOperatorsPlace({ operator }: Pick<GatewayContext, 'operator'>, { raw }: FastifyRequest): void {
  const check = operator(raw);
  if (!check.ok && check.status === 403) throw forbidden(FOREIGN);
}
