import type { Operation } from '../operations.ts';
import type { Account } from './population.ts';

/** One request, and how to know that it did what it should. */
export interface Call {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  token?: string;
  body?: object;
  /** The status that counts as success. */
  status: number;
  /** Looks at the body, as JSON; used once per connection. */
  isRight(answer: unknown): boolean;
}

/** The calls of a protocol: the n-th of an account. */
export type Calls = Record<Operation, (account: Account, n: number) => Call>;

/** The n-th of an account's tasks, round and round. */
export function nthTask({ taskIds }: Account, n: number): string {
  return taskIds[n % taskIds.length] ?? '';
}
