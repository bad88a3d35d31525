import { whyNoTests } from './steps.ts';

const why = (line: string, long = false) =>
  whyNoTests({
    ...{ jestArgs: line.split(' '), long, signal: new AbortController().signal },
    env: { ...process.env, TASKMESH_LONG: undefined },
  });

describe('a part of the tests', () => {
  it('of which there is a file is run', async () => {
    expect(await why('deploy/local/src/test-run -t something')).toBeUndefined();
    expect(await why('tests/operate/guides', true)).toBeUndefined();
  });

  it('without a file is reported as such', async () =>
    expect(await why('libs/nope')).toBe('No test file matches libs/nope.'));

  it('that takes longer is named with the command that runs it', async () =>
    expect(await why('tests/operate/guides/follow')).toBe(
      'Only tests that take longer match tests/operate/guides/follow: npm run test:long -- tests/operate/guides/follow',
    ));

  it('with an option that Jest does not know is explained', async () =>
    expect(await why('--frob')).toContain('Unrecognized option "frob"'));
});
