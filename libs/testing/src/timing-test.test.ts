import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { timingTest } from './timing-test.ts';

describe('a test of a promise about time', () => {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-timing-'));
  const file = join(dir, 'second-tries');
  const before = process.env.TASKMESH_SECOND_TRIES;
  let tries = 0;

  process.env.TASKMESH_SECOND_TRIES = file;
  timingTest('has a second try in a run of everything', async () => {
    tries += 1;
    if (tries === 1) throw new Error('too late\nby a second');
  });
  if (before === undefined) delete process.env.TASKMESH_SECOND_TRIES;
  else process.env.TASKMESH_SECOND_TRIES = before;

  it('is named when it needed that', () => {
    expect(tries).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(
      'a test of a promise about time has a second try in a run of everything: Error: too late\n',
    );
    rmSync(dir, { recursive: true });
  });
});
