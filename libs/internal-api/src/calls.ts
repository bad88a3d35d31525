import { AppError, forbidden, isErrorCode, unavailable, type Issue } from '@taskmesh/contracts';
import type { Identity, IdentitySigner } from '@taskmesh/identity';
import { asJson, inSpan, type Log, type Span } from '@taskmesh/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { ServicePool } from './pools.ts';
import { startWaiting, type WaitingOptions } from './waiting.ts';

/** Functions of a service that only other services may call. Arguments and results are JSON. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the arguments of any such function
export type Functions<Api> = { [Name in keyof Api]: (...args: any[]) => Promise<unknown> };

/** The permitted caller: another service, or the gateway on behalf of an operator. */
export type Caller = Extract<Identity, { role: 'service' } | { role: 'operator' }>;

/** Internal functions of a service, with their permitted caller and timeout. */
export interface InternalApi<Api extends Functions<Api>> {
  /** The service that implements them, which is also the audience of the callers' identity tokens. */
  service: string;
  caller: Caller;
  timeoutMs: number;
  names: (keyof Api & string)[];
  /** The parts of results that the caller depends on. Validated because during a rolling update the service may be of another version. */
  resultSchemas?: Partial<Record<keyof Api & string, z.ZodType>>;
}

/** Adds routes for other services to a service's server, which has authenticated the caller by then. */
export type Routes = (
  app: FastifyInstance,
  served: { identityOf: (request: FastifyRequest) => Identity; log: Log },
) => void;

/** `POST /internal/<name>` with `{"args": […]}` returns `{"result": …}` or `{"error": {code, message}}`. */
export function internalRoutes<Api extends Functions<Api>>(
  { caller, names }: InternalApi<Api>,
  implementation: Api,
): Routes {
  return (app, { identityOf, log }) =>
    void app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        if (!isSame(identityOf(request), caller)) throw forbidden('For another caller only.');
      });
      scope.setErrorHandler((error, request, reply) => {
        const wire = toWireError(error);
        if (wire.code === 'INTERNAL_SERVER_ERROR') log.error({ err: error, url: request.url }, 'internal call failed');
        return reply.code(error instanceof AppError ? error.httpStatus : 500).send({ error: wire });
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

/** Returns the same functions over HTTP. They fail with SERVICE_UNAVAILABLE when the service is down, slow or broken. */
export function createInternalClient<Api extends Functions<Api>>(
  { service, caller, timeoutMs, names, resultSchemas }: InternalApi<Api>,
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
    const { result, error } = parseResponse(text);
    if (status === 200) {
      const reason = resultSchemas?.[name]?.safeParse(result).error;
      if (reason)
        throw unavailable(undefined, new Error(`${service}.${name} returned an unexpected result.`, { cause: reason }));
      return result;
    }
    throw error ? fromWireError(error) : unavailable(undefined, new Error(`${service}.${name}: status ${status}`));
  };
  return functionsOf(names, (name, args) =>
    inSpan(
      () => ({ name: `${service}.${name}`, kind: 'client' }),
      (span) => call(name, args, span),
    ),
  );
}

function functionsOf<Api extends Functions<Api>>(
  names: (keyof Api & string)[],
  call: (name: keyof Api & string, args: unknown[]) => Promise<unknown>,
): Api {
  return Object.fromEntries(names.map((name) => [name, (...args: unknown[]) => call(name, args)])) as Api;
}

function isSame(identity: Identity, caller: Caller): boolean {
  if (identity.role !== caller.role) return false;
  return identity.role !== 'service' || caller.role !== 'service' || identity.name === caller.name;
}

/** A response that is not JSON does not come from the service. */
function parseResponse(text: string): { result?: unknown; error?: WireError } {
  try {
    return JSON.parse(text) as { result?: unknown; error?: WireError };
  } catch (cause) {
    throw unavailable(undefined, cause);
  }
}

/**
 * Waits for work in this process as if it ran in another one. `isOver` returns whether the caller has stopped waiting.
 * @throws AppError SERVICE_UNAVAILABLE when there is no result in time
 */
export async function runWithTimeout<Result>(
  { timeoutMs, signal }: Pick<WaitingOptions, 'timeoutMs' | 'signal'>,
  work: (isOver: () => boolean) => Promise<Result>,
): Promise<Result> {
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  let isOver = false;
  const onGivenUp = (error: Error) => {
    isOver = true;
    reject(error);
  };
  const waiting = startWaiting({ timeoutMs, signal, onGivenUp });
  try {
    return await Promise.race([work(() => isOver), givenUp]);
  } finally {
    waiting.end();
  }
}

/** Calls functions in this process with the same deadlines, JSON values and errors as `createInternalClient` over HTTP. */
export function callInProcess<Api extends Functions<Api>>(definition: InternalApi<Api>, implementation: Api): Api {
  const { service, names, timeoutMs } = definition;
  const call = async (name: keyof Api & string, args: unknown[]) => {
    const jsonArgs = asJson(args);
    try {
      const result = await runWithTimeout({ timeoutMs }, () => implementation[name](...jsonArgs));
      return asJson(result ?? null);
    } catch (error) {
      throw fromWireError(toWireError(error), error);
    }
  };
  return functionsOf(names, (name, args) =>
    inSpan(
      () => ({ name: `${service}.${name}` }),
      () => call(name, args),
      service,
    ),
  );
}

export interface WireError {
  code: string;
  message: string;
  issues?: Issue[];
  retryAfterSeconds?: number;
}

const DEFECT: WireError = { code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error.' };

/** Reveals no details of a defect. */
export function toWireError(error: unknown): WireError {
  if (!(error instanceof AppError)) return DEFECT;
  const { code, message, issues, retryAfterSeconds } = error;
  return { code, message, ...(issues && { issues }), ...(retryAfterSeconds && { retryAfterSeconds }) };
}

/** Defects and refused callers are problems between services, which clients must not see. */
const INTERNAL_CODES = new Set(['INTERNAL_SERVER_ERROR', 'UNAUTHENTICATED', 'FORBIDDEN']);

/** Restores the other service's error; a problem between the services becomes SERVICE_UNAVAILABLE. */
function fromWireError({ code, message, issues, retryAfterSeconds }: WireError, cause?: unknown): AppError {
  if (!isErrorCode(code) || INTERNAL_CODES.has(code)) return unavailable(undefined, cause ?? new Error(message));
  return new AppError(code, message, { issues, retryAfterSeconds, cause });
}

/** Most internal calls are small and soon repeated, so a slow one is abandoned early. */
export const SHORT_CALL_MS = 3_000;
/** Allows for up to four requests to a sign-in provider, three seconds each. */
export const PROVIDER_MS = 15_000;
/** Allows for the largest stores. The load before the import has a limit of its own, derived from the archive's. */
export const IMPORT_MS = 60 * 60_000;
/** Operators see within about this time that something does not respond. */
export const STATUS_MS = 1_000;
/** The limit for each part of a service's status. Shorter than STATUS_MS, so that one slow part does not look like a dead service. */
export const STATUS_PART_MS = 700;
