import type { MessageBody } from '../schemas/answers.ts';

export function said(message: string): { body: MessageBody } {
  return { body: { message } };
}
