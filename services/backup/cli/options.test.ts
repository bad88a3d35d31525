import { readOptions, UsageError } from './options.ts';

const line = (text: string, env = {}) => readOptions(text.split(' ').filter(Boolean), env);

describe('the arguments of the command line', () => {
  it.each(['', '--help', '-h', 'list --help'])('"%s" requests help', (text) => expect(line(text)).toBe('help'));

  it('name a command, its file and the URL', () => {
    expect(line('restore a.tar.gz --yes --json --url https://x.example/base')).toMatchObject({
      command: 'restore',
      file: 'a.tar.gz',
      yes: true,
      json: true,
      url: new URL('https://x.example/base'),
    });
    expect(line('restore a.tar.gz --store tasks --store auth')).toMatchObject({ stores: ['tasks', 'auth'] });
    expect(line('restore a.tar.gz --dry-run')).toMatchObject({ dryRun: true });
    expect(line('restore a.tar.gz --no-safety-backup')).toMatchObject({ safetyBackup: false });
    expect(line('restore a.tar.gz')).toMatchObject({ stores: undefined, safetyBackup: undefined });
    expect(line('undo --yes')).toMatchObject({ command: 'undo', file: '', yes: true });
    expect(line('new-epoch --at-least 28000000')).toMatchObject({ atLeast: 28_000_000 });
    expect(line('list')).toMatchObject({ url: new URL('http://127.0.0.1:4000') });
    expect(line('list', { PORT: '5000' })).toMatchObject({ url: new URL('http://127.0.0.1:5000') });
    expect(line('list', { PORT: '5000', TASKMESH_URL: 'http://h:1' })).toMatchObject({ url: new URL('http://h:1') });
  });

  it.each([
    'destroy',
    'verify',
    'create x',
    'restore a b',
    'list --yes',
    'undo x',
    'verify a.tar.gz --allow-loss',
    'undo --store tasks',
    'undo --dry-run',
    'new-epoch x',
    'new-epoch --at-least later',
    'undo --at-least 5',
    'restore a --safety-backup --no-safety-backup',
    'restore a.tar.gz --store',
    'restore a.tar.gz --dry-run --safety-backup',
    'restore a.tar.gz --dry-run --no-safety-backup',
    'create --to x',
    'verify a --as b',
    'list --url ftp://x',
    'list --nonsense',
    'toString',
  ])('"%s" is refused', (text) => expect(() => line(text)).toThrow(UsageError));

  it('are refused with a clear message if an option or its value is unknown', () => {
    expect(() => line('list --frob')).toThrow(`Unknown option '--frob'`);
    expect(() => line('restore a.tar.gz --store nonsense')).toThrow('There are: tasks, auth.');
  });
});
