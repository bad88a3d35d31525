import { readOptions, UsageError } from './options.ts';

const line = (text: string, env = {}) => readOptions(text.split(' ').filter(Boolean), env);

describe('the arguments of the command line', () => {
  it.each(['', '--help', '-h', 'list --help'])('"%s" requests help', (text) => expect(line(text)).toBe('help'));

  it.each<[text: string, options: object, env: object]>([
    ['restore a.tar.gz --yes --json --url https://x.example/base', { command: 'restore', file: 'a.tar.gz', yes: true, json: true, url: new URL('https://x.example/base') }, {}],
    ['restore a.tar.gz --store tasks --store auth', { stores: ['tasks', 'auth'] }, {}],
    ['restore a.tar.gz --dry-run', { dryRun: true }, {}],
    ['restore a.tar.gz --no-safety-backup', { safetyBackup: false }, {}],
    ['restore a.tar.gz', { stores: undefined, safetyBackup: undefined }, {}],
    ['undo --yes', { command: 'undo', file: '', yes: true }, {}],
    ['new-epoch --at-least 28000000', { atLeast: 28_000_000 }, {}],
    ['list', { url: new URL('http://127.0.0.1:4000') }, {}],
    ['list', { url: new URL('http://127.0.0.1:5000') }, { PORT: '5000' }],
    ['list', { url: new URL('http://h:1') }, { PORT: '5000', TASKMESH_URL: 'http://h:1' }],
  ])('"%s" is %j with %j', (text, options, env) => expect(line(text, env)).toMatchObject(options)); // prettier-ignore

  it.each([
    ...['destroy', 'verify', 'create x', 'restore a b', 'list --yes', 'verify a.tar.gz --allow-loss', 'undo --store tasks', 'undo --dry-run'],
    ...['new-epoch --at-least later', 'undo --at-least 5', 'restore a --safety-backup --no-safety-backup', 'restore a.tar.gz --store'],
    ...['restore a.tar.gz --dry-run --safety-backup', 'create --to x', 'verify a --as b', 'list --url ftp://x', 'list --nonsense', 'toString'],
  ])('"%s" is refused', (text) => expect(() => line(text)).toThrow(UsageError)); // prettier-ignore

  it('are refused with a clear message if an option or its value is unknown', () => {
    expect(() => line('list --frob')).toThrow(`Unknown option '--frob'`);
    expect(() => line('restore a.tar.gz --store nonsense')).toThrow('There are: tasks, auth.');
  });
});
