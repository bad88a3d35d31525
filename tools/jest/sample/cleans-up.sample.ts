const CLEAN_UPS = Symbol.for('taskmesh.cleanUps');
const atEnd = (what: string) =>
  (globalThis as unknown as { [CLEAN_UPS]: (() => unknown)[] })[CLEAN_UPS].push(async () => done.push(what));
const done: string[] = [];

atEnd('of the file');
beforeEach(() => atEnd('of a test'));
afterAll(() => expect(done).toEqual(['second', 'first', 'of a test', 'of a test']));

it('registers what it cleans up', () => {
  for (const what of ['first', 'second']) atEnd(what);
});

it('begins when the former test has cleaned up', () => {
  expect(done).toEqual(['second', 'first', 'of a test']);
});
