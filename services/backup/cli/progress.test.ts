import { createProgressView } from './progress.ts';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, columns: 80, write: (text: string) => void written.push(text), written };
}

describe('the progress of work', () => {
  it('is a bar on a terminal, which is gone in the end', () => {
    const out = terminal(true);
    const view = createProgressView(out);
    view.show({ phase: 'load', store: 'tasks', doneBytes: 3_140_000, totalBytes: 6_280_000 });
    view.show({ phase: 'dump', store: 'auth', doneBytes: 2_000 });
    view.end();
    expect(out.written).toEqual([
      '\r\u001b[2Kloading tasks      [############............]  50 %  3.1 MB',
      '\r\u001b[2Kreading auth       2 kB',
      '\r\u001b[2K',
    ]);
  });
});
