import { createEntryCheck } from './unpack-archive.ts';
import { archiveLimits, DEFAULT_SIZES, type ArchiveLimits } from './limits.ts';

const checkOf = (limits: Partial<ArchiveLimits> = {}) =>
  createEntryCheck({ ...archiveLimits(DEFAULT_SIZES), ...limits });
const entry = (path: string, type = 'File', size: number | undefined = 1) => ({
  path,
  type: type as 'File', // what tar may read from untrusted bytes
  mode: 0o6777,
  header: { size },
});

describe('an entry of an archive', () => {
  // tar would refuse some of these as well, but gives no reason.
  it.each([
    ['../a', 'climbs out of the archive'],
    ['a/../b', 'climbs out of the archive'],
    ['/a', 'has an absolute name'],
    ['C:/a', 'has an absolute name'],
    ['c:a', 'has an absolute name'],
    ['a\\b', 'has a name with control characters or backslashes'],
    ['a\u0000', 'has a name with control characters or backslashes'],
    ['a\u009f', 'has a name with control characters or backslashes'],
    ['n'.repeat(1_025), 'has too long a name'],
    [`${'d/'.repeat(32)}x`, 'lies too deep'],
  ])('with the name %j is refused: it %s', (name, why) => {
    expect(() => checkOf()(entry(name))).toThrow(why);
  });

  it.each(['a b', '..a/b..', 'cc:/a', '1:/a', `${'d/'.repeat(31)}x`, 'n'.repeat(1_024), './a//b/', ' ä'])(
    'with the name %j is taken',
    (name) => expect(checkOf()(entry(name))).toBeUndefined(),
  );

  it.each(['SymbolicLink', 'Link', 'CharacterDevice', 'FIFO'])('that is a %s is refused', (type) => {
    expect(() => checkOf()(entry('a', type))).toThrow(`is neither a file nor a folder (${type})`);
  });

  it.each(['File', 'OldFile', 'ContiguousFile'])('that is a %s is taken when it has a size', (type) => {
    expect(checkOf()(entry('a', type, 0))).toBeUndefined();
    expect(() => checkOf()({ ...entry('a', type), header: {} })).toThrow('has no valid size');
    expect(checkOf()({ ...entry('a', 'Directory'), header: {} })).toBeUndefined();
  });

  it('gets harmless rights', () => {
    const [file, folder] = [entry('a'), entry('b', 'Directory')];
    const check = checkOf();
    check(file);
    check(folder);
    expect([file.mode, folder.mode]).toEqual([0o600, 0o700]);
  });

  it('is one of so many at the most', () => {
    const check = checkOf({ entries: 2 });
    check(entry('a'));
    check(entry('b'));
    expect(() => check(entry('c'))).toThrow('more than 2 entries');
  });

  it('is shown in an error with the first 80 characters of its name', () => {
    for (const length of [77, 78])
      expect(() => checkOf()(entry(`../${'x'.repeat(length)}`))).toThrow(
        `entry "../${'x'.repeat(77)}${length > 77 ? '…' : ''}" climbs`,
      );
  });
});
