import type { Progress, WorkEnd } from './types.ts';
import { TaskmeshError } from '@taskmesh/client';

/** An error with a message for operators. `status` is the HTTP status, or 0 without a response. */
export class OperatorsError extends TaskmeshError {
  readonly status: number;

  constructor(status: number, message: string) {
    super('OPERATORS', message);
    this.status = status;
  }
}

export const notReached = () =>
  new OperatorsError(0, 'The server cannot be reached. Check the connection, then try again.');

const BROKEN = 'The connection broke. The work goes on at the server: look at the list in a while.';

/** Reads the progress and the result of a long operation. @throws OperatorsError if the response is incomplete */
export async function readLines(
  body: ReadableStream<Uint8Array>,
  onProgress: (progress: Progress) => void,
): Promise<WorkEnd> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const lines = `${rest}${decoder.decode(value, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) {
        if (text === '') continue;
        const line = JSON.parse(text) as WorkEnd | { progress: Progress }; // the server's own format
        if (!('progress' in line)) return line;
        onProgress(line.progress);
      }
    }
  } catch {
    throw new OperatorsError(0, BROKEN);
  }
  throw new OperatorsError(0, BROKEN);
}
