import type { Dispatcher } from 'undici';
import { send, type Call } from '../load/call.ts';

export type Request = Omit<Call, 'isRight'>;

export const graphql = (query: string): Request => ({ method: 'POST', path: '/graphql', body: { query }, status: 200 });

/** Sends requests of one owner, one after the other. */
export const sender = (client: Dispatcher, token: string) => (request: Request) => send(client, { ...request, token });
