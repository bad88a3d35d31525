import { AppError, forbidden, unavailable } from '@taskmesh/contracts';
import type { Identity, IdentitySigner, IdentityVerifier } from '@taskmesh/identity';
import { bearerToken, type Log, inSpan, type Span } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { ServicePool } from './service-pool.ts';
import { fromWireError, toWireError, type WireError } from './wire-error.ts';

/** Functions of a service that only other services may call. Arguments and results are JSON. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments of any such function
export type Functions<Api> = { [Name in keyof Api]: (...args: any[]) => Promise<unknown> };

/** Who may call: another service, or an operator on whose behalf the gateway does. */
export type Caller = Extract<Identity, { role: 'service' } | { role: 'operator' }>;

/** The internal functions of a service that are exposed, to whom, and with which time-out. */
export interface InternalApi<Api extends Functions<Api>> {
  /** The service that implements them, which is also the audience of the callers' identity tokens. */
  service: string;
  caller: Caller;
  timeoutMs: number;
  names: (keyof Api & string)[];
  /** What the caller cannot do without in an answer: during a rolling update the service may be of another version. */
  answers?: Partial<Record<keyof Api & string, z.ZodType>>;
}

/** `POST /internal/<name>` with `{"args": […]}` answers `{"result": …}` or `{"error": {code, message}}`. */
export function serveInternalApi<Api extends Functions<Api>>(
  app: FastifyInstance,
  { caller, names }: InternalApi<Api>,
  { implementation, verifier, log }: { implementation: Api; verifier: IdentityVerifier; log: Log },
): void {
  void app.register(async (scope) => {
    scope.addHook('onRequest', async ({ headers }) => {
      const identity = await verifier.verify(bearerToken(headers.authorization));
      if (!isSame(identity, caller)) throw forbidden('For another caller only.');
    });
    scope.setErrorHandler((error, request, reply) => {
      const told = toWireError(error);
      if (told.code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, url: request.url }, 'internal call failed');
      return reply.code(error instanceof AppError ? error.httpStatus : 500).send({ error: told });
    });
    for (const name of names) {
      scope.post<{ Body: { args?: unknown[] } }>(`/internal/${name}`, async ({ body }) => ({
        result: (await implementation[name](...(body.args ?? []))) ?? null,
      }));
    }
  });
}

export interface InternalClientOptions {
  /** Connections to the service; the caller closes the pool. */
  pool: ServicePool;
  signer: IdentitySigner;
}

/** The same functions over HTTP, which fail with SERVICE_UNAVAILABLE when the service is down, slow or broken. */
export function createInternalClient<Api extends Functions<Api>>(
  { service, caller, timeoutMs, names, answers }: InternalApi<Api>,
  { pool, signer }: InternalClientOptions,
): Api {
  const call = async (name: keyof Api & string, args: unknown[], span: Span | undefined) => {
    const token = await signer.tokenFor(caller, service);
    const { status, text } = await pool.post({
      path: `/internal/${name}`,
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${token}`,
        ...(span && { traceparent: span.traceparent }),
      },
      body: JSON.stringify({ args }),
      timeoutMs,
      idempotent: false,
    });
    const { result, error } = readAnswer(text);
    if (status === 200) {
      const misfit = answers?.[name]?.safeParse(result).error;
      if (misfit)
        throw unavailable(undefined, new Error(`${service}.${name} answers in another form.`, { cause: misfit }));
      return result;
    }
    throw error ? fromWireError(error) : unavailable(undefined, new Error(`${service}.${name}: status ${status}`));
  };
  const traced = (name: keyof Api & string, args: unknown[]) =>
    inSpan(
      () => ({ name: `${service}.${name}`, kind: 'client' }),
      (span) => call(name, args, span),
    );
  const functions = names.map((name) => [name, (...args: unknown[]) => traced(name, args)]);
  return Object.fromEntries(functions) as Api; // one function for each name of the definition
}

function isSame(identity: Identity, caller: Caller): boolean {
  if (identity.role !== caller.role) return false;
  return identity.role !== 'service' || caller.role !== 'service' || identity.name === caller.name;
}

/** Only our own server's JSON counts as the service's answer. */
function readAnswer(text: string): { result?: unknown; error?: WireError } {
  try {
    return JSON.parse(text) as { result?: unknown; error?: WireError };
  } catch (cause) {
    throw unavailable(undefined, cause);
  }
}
