import type { MeasuredProduct, Reply } from './measured-product.ts';

export type Kind =
  'document' | 'variables' | 'body' | 'header' | 'REST' | 'socket' | 'change' | 'archive' | 'batch' | 'found';

/** An account with 1,000 tasks of the greatest length. */
export interface Account {
  token: string;
  taskId: string;
}

/** The worst that a limit permits. */
export interface Case {
  kind: Kind;
  name: string;
  by: 'stranger' | 'account' | 'operator';
  /** The status of the response and its error code. A case that is refused earlier than it was proves nothing. */
  outcome: string;
  /** How many requests it stands for, which each have the budget. @default 1 */
  requests?: number;
  /** `turn` makes requests differ, so that no cache answers them. Resolves with the outcome. */
  send(product: MeasuredProduct, account: Account, turn: number): Promise<string>;
}

export const JSON_TYPE: Record<string, string> = { 'content-type': 'application/json' };
export const MIB = 2 ** 20;
export const NO_USER = '200 UNAUTHENTICATED';

export const times = (count: number, part: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

export const bearer = (by: Case['by'], { token }: Account): Record<string, string> =>
  by === 'account' ? { authorization: `Bearer ${token}` } : {};

export const TASK_FIELDS = [
  'id',
  'title',
  'description',
  'completed',
  'dueDate',
  'category',
  'priority',
  'createdAt',
  'version',
];

/** A value of a repeated key: it is parsed, but the last one replaces it. */
export function replacedValue({ levels, keyLength, integers }: Record<'levels' | 'keyLength' | 'integers', number>) {
  const begin = `{"${'k'.repeat(keyLength)}":`;
  const deep = `${begin.repeat(levels)}[${'9007199254740993,'.repeat(integers)}0]${'}'.repeat(levels)}`;
  return `"r":${deep},"r":0`;
}

/** What a case's request came to. */
export function outcomeOf({ status, body: text }: Reply): string {
  const code = text.startsWith('{"openapi"') ? undefined : /"code":"([A-Z_]+)"/.exec(text)?.[1];
  return code === undefined ? String(status) : `${status} ${code}`;
}
