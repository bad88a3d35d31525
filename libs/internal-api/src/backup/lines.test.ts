import { text } from 'node:stream/consumers';
import { createLines } from './lines.ts';

describe('the lines of long work', () => {
  it('end with the result, even if the work was given up and still tells how it gets on', async () => {
    const lines = createLines({ repeatMs: 60_000 });
    lines.progress({ phase: 'dump' });
    lines.end({ result: null });
    lines.progress({ phase: 'compress' });
    lines.progress({ phase: 'compress' });
    expect(await text(lines.stream)).toBe('{"progress":{"phase":"dump"}}\n{"result":null}\n');
  });
});
