import { AppError, badUserInput, type Issue, toGraphQLError } from '@taskmesh/contracts';
import {
  coerceVariables,
  InvalidOperation,
  isExactInteger,
  isTooLong,
  type PreparedOperation,
} from '@taskmesh/federation';
import { ConfigError, isAbsent, isObject, type Log, networkOf, siteOf } from '@taskmesh/service';
import { GraphQLError } from 'graphql';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { GraphQLConfig } from '../config.ts';
import { refusal } from '../supergraph/client-errors.ts';
import type { BlockingWork } from '../supergraph/blocking-work.ts';
import type { GraphMetrics } from '../supergraph/executor.ts';
import type { LiveGraph } from '../supergraph/live-graph.ts';
import type { AdmittedOperation, RequestCall } from '../supergraph/operation.ts';
import { isHashOf, type PersistedQueries } from './persisted-queries.ts';

/** How a request arrived. */
export interface TransportInfo {
  /** True for HTTP GET, which must not change anything. */
  isGet: boolean;
  canStream: boolean;
  caller: Pick<RequestCall, 'identity' | 'ip' | 'signal'>;
}

export const isSubscription = ({ operation: { operation } }: AdmittedOperation) =>
  operation.operation === 'subscription';

/** Checks clients' operations, for every transport. */
export type Admission = ReturnType<typeof createAdmission>;

export interface AdmissionDeps {
  config: GraphQLConfig;
  graph: LiveGraph;
  trusted: TrustedDocuments;
  persisted: PersistedQueries;
  blockingWork: BlockingWork;
  metrics: Pick<GraphMetrics, 'refused'>;
  log: Log;
}

export function createAdmission({ config, graph, trusted, persisted, blockingWork, metrics, log }: AdmissionDeps) {
  const findText = (request: CheckedRequest): CheckedRequest => {
    const { query, hash } = request;
    const agreed = hash && trusted.byHash(hash.value);
    if (agreed !== undefined) return { ...request, query: agreed, hash: undefined };
    if (query === undefined) return request;
    trusted.check(query);
    if (hash?.kind === 'persisted' && !isHashOf(hash.value, query)) throw wrongHash();
    return request;
  };

  const persistedText = async ({ hash }: CheckedRequest): Promise<string> => {
    const known = hash && (await persisted.get(hash.value));
    if (known === undefined) throw refusal('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
    return known;
  };

  const remember = ({ query, hash }: CheckedRequest, { caller }: TransportInfo): void => {
    if (hash?.kind !== 'persisted' || query === undefined) return;
    persisted
      .keep(hash.value, query, budgetOf(caller))
      .catch((error: unknown) => log.warn({ err: error }, 'a persisted query is not kept'));
  };

  const admitText = async (text: string, operationName: string | undefined, { caller }: TransportInfo) => {
    const { current } = graph;
    const admit = () => current.admit(text, operationName);
    return current.admitKnown(text, operationName) ?? blockingWork.run(networkOf(caller.ip), admit, caller.signal);
  };

  const check = async (sent: UncheckedRequest, arrival: TransportInfo): Promise<AdmittedOperation> => {
    const request = findText(checkRequest(sent));
    const { query, operationName } = request;
    if (query !== undefined && isTooLong(query, config))
      throw refusal('GRAPHQL_PARSE_FAILED', 'The document is too long.');
    const operation = await admitText(query ?? (await persistedText(request)), operationName, arrival);
    checkKind(operation, arrival);
    const variables = coerceVariables(operation, request.variables);
    const cost = operation.cost(variables);
    if (config.maxCost > 0 && cost > config.maxCost)
      throw refusal('GRAPHQL_VALIDATION_FAILED', 'The operation requests too much at once.');
    remember(request, arrival);
    return { operation, variables, cost };
  };

  return {
    /** @throws InvalidOperation */
    async admit(sent: UncheckedRequest, arrival: TransportInfo) {
      try {
        return await check(sent, arrival);
      } catch (error) {
        const invalid = asInvalid(error);
        if (invalid instanceof InvalidOperation && !arrival.caller.signal?.aborted) metrics.refused(invalid.code);
        throw invalid;
      }
    },
  };
}

function checkKind({ operation: { operation: kind } }: PreparedOperation, { isGet, canStream }: TransportInfo): void {
  if (isGet && kind === 'mutation') {
    const message = 'Mutations run by POST only.';
    throw new InvalidOperation('BAD_USER_INPUT', [toGraphQLError(badUserInput([{ path: 'query', message }]))], 405);
  }
  if (kind === 'subscription' && !canStream) {
    const message = 'Subscriptions run over graphql-ws, or with Accept: text/event-stream or multipart/mixed.';
    throw badUserInput([{ path: 'query', message }]);
  }
}

function wrongHash(): AppError {
  const path = 'extensions.persistedQuery.sha256Hash';
  return badUserInput([{ path, message: `${path} must be the SHA-256 of query.` }]);
}

/** The budgets of persisted queries that a document counts against. */
function budgetOf({ identity, ip }: TransportInfo['caller']) {
  const network = networkOf(ip);
  return { caller: identity.role === 'user' ? identity.userId : network, network: siteOf(network) };
}

function asInvalid(error: unknown): unknown {
  if (error instanceof AppError) return new InvalidOperation(error.code, [toGraphQLError(error)], error.httpStatus);
  return error instanceof GraphQLError ? new InvalidOperation('BAD_USER_INPUT', [error]) : error;
}

const SHA256 = /^[0-9a-f]{64}$/;

/** An unchecked GraphQL request, from any transport. */
export interface UncheckedRequest {
  query?: unknown;
  operationName?: unknown;
  variables?: unknown;
  extensions?: unknown;
  documentId?: unknown;
}

/** The same request, with its form checked. */
interface CheckedRequest {
  query: string | undefined;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
  /** Identifies the document, with or without its text. */
  hash: { value: string; kind: 'trusted' | 'persisted' } | undefined;
}

/** @throws AppError BAD_USER_INPUT */
function checkRequest(sent: UncheckedRequest): CheckedRequest {
  const issues = formIssues(sent);
  if (issues.length > 0) throw badUserInput(issues);
  const { query, operationName, variables } = sent as { query?: string; operationName?: string; variables?: object };
  const hash = hashOf(sent);
  const text = given(query);
  if (text === undefined && !hash) throw badUserInput([{ path: 'query', message: 'query is required.' }]);
  return {
    query: text,
    operationName: given(operationName),
    variables: (variables ?? {}) as Readonly<Record<string, unknown>>, // checked above
    hash,
  };
}

/** Some clients cannot omit a string and send an empty one; GraphQL over HTTP allows that for `operationName`. */
const given = (text: string | null | undefined) => (text === '' ? undefined : (text ?? undefined));

function formIssues({ query, operationName, variables, extensions }: UncheckedRequest): Issue[] {
  const issues: Issue[] = [];
  const check = (isRight: boolean, path: string, rule: string) => {
    if (!isRight) issues.push({ path, message: `${path} must be ${rule}.` });
  };
  check(isAbsent(query) || typeof query === 'string', 'query', 'a string');
  check(isAbsent(operationName) || typeof operationName === 'string', 'operationName', 'a string');
  check(isAbsent(variables) || (isObject(variables) && !isExactInteger(variables)), 'variables', 'an object');
  check(isAbsent(extensions) || isObject(extensions), 'extensions', 'an object');
  const persisted = persistedIn(extensions);
  if (isAbsent(persisted)) return issues;
  const path = 'extensions.persistedQuery';
  if (!isObject(persisted)) check(false, path, 'an object');
  else if (persisted['version'] !== 1) check(false, `${path}.version`, '1');
  else check(isSha256(persisted['sha256Hash']), `${path}.sha256Hash`, '64 hexadecimal digits');
  return issues;
}

const isSha256 = (value: unknown) => typeof value === 'string' && SHA256.test(value);

function hashOf({ documentId, extensions }: UncheckedRequest): CheckedRequest['hash'] {
  if (typeof documentId === 'string') return { value: documentId, kind: 'trusted' };
  const persisted = persistedIn(extensions) as { sha256Hash: string } | null | undefined; // checked above
  return persisted ? { value: persisted.sha256Hash, kind: 'persisted' } : undefined;
}

function persistedIn(extensions: unknown): unknown {
  return isObject(extensions) ? extensions['persistedQuery'] : undefined;
}

const manifestSchema = z.record(z.string().regex(/^[0-9a-f]{64}$/), z.string().min(1));

/** Documents that were approved in advance, and can be run by their hash. */
export interface TrustedDocuments {
  byHash(hash: string): string | undefined;
  /** @throws InvalidOperation when only trusted documents may run, and this is not one */
  check(source: string): void;
}

/** `own` are the documents of our own pages, which are trusted as well. @throws ConfigError when the manifest is unreadable or invalid */
export async function loadTrustedDocuments(
  { trustedDocuments, trustedDocumentsFile }: GraphQLConfig,
  own: readonly string[] = [],
): Promise<TrustedDocuments> {
  if (trustedDocuments === 'off' || trustedDocumentsFile === undefined)
    return { byHash: () => undefined, check: () => undefined };
  const documents = new Map(Object.entries(await readManifest(trustedDocumentsFile)));
  const texts = new Set([...documents.values(), ...own]);
  return {
    byHash: (hash) => documents.get(hash),
    check(source) {
      if (trustedDocuments === 'only' && !texts.has(source))
        throw new InvalidOperation('FORBIDDEN', [refusal('FORBIDDEN', 'Only trusted documents run here.')], 403);
    },
  };
}

async function readManifest(file: string): Promise<Record<string, string>> {
  try {
    const documents = manifestSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    for (const [hash, text] of Object.entries(documents)) {
      if (createHash('sha256').update(text).digest('hex') !== hash)
        throw new Error(`${hash} is not the hash of its document`);
    }
    return documents;
  } catch (error) {
    throw new ConfigError([
      `TRUSTED_DOCUMENTS_FILE must be a JSON object of SHA-256 hashes and their documents: ${String(error)}`,
    ]);
  }
}
