import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureWritableDirectory } from './writable-directory.ts';

const top = mkdtempSync(join(tmpdir(), 'taskmesh-writable-'));
afterAll(() => rmSync(top, { recursive: true }));

describe('a directory that a setting names', () => {
  it('is made with those above it, for whom the mode says, and left empty', () => {
    const dir = join(top, 'a', 'b');
    ensureWritableDirectory('DATA_DIR', dir, 0o700);
    ensureWritableDirectory('DATA_DIR', dir, 0o700);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is refused by its setting when it is a file, or below one', () => {
    const file = join(top, 'file');
    writeFileSync(file, '');
    for (const dir of [file, join(file, 'below'), join(file, 'far', 'below')])
      expect(() => ensureWritableDirectory('DATA_DIR', dir)).toThrow(
        /^Wrong configuration:\n {2}- DATA_DIR must lead to a directory that can be written \((EEXIST|ENOTDIR): ".*"\)$/,
      );
  });

  const onLinux = process.platform === 'linux' ? it : it.skip;
  onLinux('is refused where nobody can make or write one', () => {
    for (const dir of ['/proc', '/proc/taskmesh', '/proc/taskmesh/below'])
      expect(() => ensureWritableDirectory('DATA_DIR', dir)).toThrow('- DATA_DIR must lead to a directory');
  });
});
