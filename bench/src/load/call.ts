import type { Dispatcher } from 'undici';
import type { Operation } from '../operations.ts';

/** Somebody who sends requests, with the tasks that are theirs from the start. */
export interface Account {
  email: string;
  password: string;
  token: string;
  taskIds: string[];
}

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

/** The body of what is answered. @throws when that is a failure */
export async function send(client: Dispatcher, call: Omit<Call, 'isRight'>): Promise<string> {
  const { method, path, token, body, status } = call;
  const headers = {
    ...(body && { 'content-type': 'application/json' }),
    ...(token && { authorization: `Bearer ${token}` }),
  };
  const response = await client.request({ method, path, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.body.text();
  // GraphQL tells of failures with status 200.
  if (response.statusCode !== status || (path === '/graphql' && text.includes('"errors":')))
    throw new Error(`${method} ${path} answered ${response.statusCode} ${text.slice(0, 500)}`);
  return text;
}
