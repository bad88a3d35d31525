import { readLines } from './read-lines.ts';
import type { Progress } from './types.ts';

/** A response body that arrives in these chunks. */
const bodyOf = (pieces: string[], failure?: Error) => {
  const encoder = new TextEncoder();
  const bytes = pieces.map((piece) => encoder.encode(piece));
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const next = bytes.shift();
      if (next) controller.enqueue(next);
      else if (failure) controller.error(failure);
      else controller.close();
    },
  });
};

const END = '{"status":201,"success":true,"message":"Backup made."}\n';

describe('the response of a long operation', () => {
  it('has lines for progress and the result, in chunks of any size', async () => {
    const seen: Progress[] = [];
    const end = await readLines(
      bodyOf(['\n{"progress":{"pha', 'se":"dump"}}\n\n{"progress":{"phase":"swap"}}\n{"status":2', END.slice(11)]),
      (progress) => seen.push(progress),
    );
    expect(seen).toEqual([{ phase: 'dump' }, { phase: 'swap' }]);
    expect(end).toEqual({ status: 201, success: true, message: 'Backup made.' });
  });

  it.each([
    ['breaks off', bodyOf(['{"progress":{"phase":"dump"}}\n'])],
    ['breaks off in a line', bodyOf(['{"status":201'])],
    ['fails', bodyOf(['{"progress":{"phase":"dump"}}\n'], new Error('lost'))],
    ['is something else', bodyOf(['<html>\n'])],
  ])('reports that the work continues if the body %s', async (_how, body) => {
    await expect(readLines(body, () => undefined)).rejects.toThrow('goes on at the server');
  });
});
