import type { MessageBody } from '../schemas/answers.ts';

export function messageBody(message: string): { body: MessageBody } {
  return { body: { message } };
}
