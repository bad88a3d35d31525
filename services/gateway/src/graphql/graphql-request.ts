import { badUserInput, type Issue } from '@taskmesh/contracts';
import { isExactInteger } from '@taskmesh/federation';
import { isAbsent, isObject } from '@taskmesh/service';

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
export interface CheckedRequest {
  query: string | undefined;
  operationName: string | undefined;
  variables: Readonly<Record<string, unknown>>;
  /** Identifies the document, with or without its text. */
  hash: { value: string; kind: 'trusted' | 'persisted' } | undefined;
}

/** @throws AppError BAD_USER_INPUT */
export function checkRequest(sent: UncheckedRequest): CheckedRequest {
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

/** Some clients cannot omit a text; GraphQL over HTTP says so of `operationName`. */
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
