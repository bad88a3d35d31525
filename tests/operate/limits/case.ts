import type { MeasuredProduct, Reply } from './measured-product.ts';

export type Kind =
  'document' | 'variables' | 'body' | 'header' | 'REST' | 'socket' | 'change' | 'archive' | 'batch' | 'found';

/** An account with 1,000 tasks of maximum length. */
export interface Account {
  token: string;
  taskId: string;
}

/** The most expensive request that a limit allows. */
export interface Case {
  kind: Kind;
  name: string;
  by: 'stranger' | 'account' | 'operator';
  /** The expected status and error code. A case that is refused earlier than before proves nothing. */
  outcome: string;
  /** The number of requests in the case; each has the budget. @default 1 */
  requests?: number;
  /** Sends the case, and resolves with the outcome. `turn` makes requests differ, so that no cache can answer them. */
  send(product: MeasuredProduct, account: Account, turn: number): Promise<string>;
}

export const JSON_TYPE: Record<string, string> = { 'content-type': 'application/json' };
export const MIB = 2 ** 20;
export const NO_USER = '200 UNAUTHENTICATED';

export const times = (count: number, part: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

export const bearer = (by: Case['by'], { token }: Account): Record<string, string> =>
  by === 'account' ? { authorization: `Bearer ${token}` } : {};

export const TASK_FIELDS = 'id title description completed dueDate category priority createdAt version'.split(' ');

/** Returns a repeated JSON key whose first value is expensive to parse, and is then replaced by the second. */
export function replacedValue({ levels, keyLength, integers }: Record<'levels' | 'keyLength' | 'integers', number>) {
  const begin = `{"${'k'.repeat(keyLength)}":`;
  const deep = `${begin.repeat(levels)}[${'9007199254740993,'.repeat(integers)}0]${'}'.repeat(levels)}`;
  return `"r":${deep},"r":0`;
}

/** Returns the outcome of a response: its status and error code. */
export function outcomeOf({ status, body: text }: Reply): string {
  const code = text.startsWith('{"openapi"') ? undefined : /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}
