import type { MessageBody } from '../schemas/answers.ts';

/** An answer that is a message for people. */
export function said(message: string): { body: MessageBody } {
  return { body: { message } };
}
