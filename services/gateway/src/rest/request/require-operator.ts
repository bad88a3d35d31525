import { forbidden, unauthenticated } from '@taskmesh/errors';
import type { FastifyRequest } from 'fastify';
import type { GatewayContext } from '../../context.ts';

/** @throws AppError UNAUTHENTICATED or FORBIDDEN unless the caller is an operator */
export function requireOperator({ operator }: Pick<GatewayContext, 'operator'>, { raw }: FastifyRequest): void {
  const check = operator(raw);
  if (check.ok) return;
  throw check.status === 401
    ? unauthenticated('The token of operators is missing or wrong.')
    : forbidden('This is for callers on this machine (localhost) only, unless there is a backup token.');
}
