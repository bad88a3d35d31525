import type { IdentitySigner, IdentityVerifier } from '@taskmesh/identity';
import { AppError, isErrorCode, unavailable } from '@taskmesh/errors';
import type { FastifyInstance } from 'fastify';
import type { Pool } from 'undici';

/** Plain functions of a service that only other services may call. Arguments and results are JSON. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments of any such function
type Functions<Api> = { [Name in keyof Api]: (...args: any[]) => Promise<unknown> };

/** A service's internal functions by name: what the HTTP binding lets through. */
export interface InternalApi<Api extends Functions<Api>> {
  /** The service that offers them, which is also the audience of the callers' identity tokens. */
  service: string;
  names: (keyof Api & string)[];
}

/** `POST /internal/<name>` with `{"args": […]}` answers `{"result": …}` or `{"error": {code, message}}`. Services only. */
export function serveInternalApi<Api extends Functions<Api>>(
  app: FastifyInstance,
  definition: InternalApi<Api>,
  implementation: Api,
  verifier: IdentityVerifier,
): void {
  for (const name of definition.names) {
    app.post<{ Body: { args?: unknown[] } }>(`/internal/${name}`, async (request, reply) => {
      try {
        const identity = await verifier.verify(bearer(request.headers.authorization));
        if (identity.role !== 'service') throw new AppError('FORBIDDEN', 'For services only.');
        return { result: (await implementation[name](...(request.body.args ?? []))) ?? null };
      } catch (error) {
        const { code, message } = error instanceof AppError ? error : internalError(error, request.log);
        return reply.code(code === 'INTERNAL_SERVER_ERROR' ? 500 : 400).send({ error: { code, message } });
      }
    });
  }
}

function internalError(error: unknown, log: FastifyInstance['log']) {
  log.error({ err: error }, 'internal call failed');
  return new AppError('INTERNAL_SERVER_ERROR', 'Internal server error');
}

function bearer(header: string | undefined): string {
  return header?.startsWith('Bearer ') ? header.slice('Bearer '.length) : '';
}

export interface InternalClientOptions {
  /** Connections to the service; who made the pool closes it. */
  pool: Pool;
  signer: IdentitySigner;
  /** The caller's own name. */
  caller: string;
  /** How long one call may take. @default 5_000 */
  timeoutMs?: number;
}

/** The same functions over HTTP. A service that is away, slow or broken is a SERVICE_UNAVAILABLE. */
export function createInternalClient<Api extends Functions<Api>>(
  definition: InternalApi<Api>,
  { pool, signer, caller, timeoutMs = 5_000 }: InternalClientOptions,
): Api {
  const call = async (name: string, args: unknown[]) => {
    const token = await signer.tokenFor({ role: 'service', name: caller }, definition.service);
    const answer = await send(pool, name, { args, token, timeoutMs });
    if (!answer.error) return answer.result;
    const { code, message } = answer.error;
    if (isErrorCode(code) && code !== 'INTERNAL_SERVER_ERROR') throw new AppError(code, message);
    throw unavailable(undefined, new Error(`${definition.service}.${name}: ${message}`));
  };
  const functions = definition.names.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(functions) as Api; // one function for each name of the definition
}

interface Answer {
  result?: unknown;
  error?: { code: unknown; message: string };
}

async function send(pool: Pool, name: string, request: { args: unknown[]; token: string; timeoutMs: number }) {
  try {
    const response = await pool.request({
      method: 'POST',
      path: `/internal/${name}`,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${request.token}` },
      body: JSON.stringify({ args: request.args }),
      headersTimeout: request.timeoutMs,
      bodyTimeout: request.timeoutMs,
    });
    return (await response.body.json()) as Answer; // our own server's form; anything else fails above or in the caller
  } catch (cause) {
    throw unavailable(undefined, cause);
  }
}
