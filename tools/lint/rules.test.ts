import { rulesBroken } from './rules-broken.ts';

const SAMPLE = 'tools/lint/sample/sample.ts';

const defects = [
  {
    what: 'a promise that is not awaited',
    text: 'async function work() {}\nexport function run() {\n  work();\n}\n',
    by: '@typescript-eslint/no-floating-promises',
  },
  {
    what: 'a wait for what is no promise',
    text: 'export async function run() {\n  await 1;\n}\n',
    by: '@typescript-eslint/await-thenable',
  },
  {
    what: 'a promise for somebody who does not wait',
    text: 'export const timer = setTimeout(async () => undefined, 1);\n',
    by: '@typescript-eslint/no-misused-promises',
  },
  {
    what: 'a promise that leaves its try block unawaited',
    text: 'async function work() {}\nexport async function run() {\n  try {\n    return work();\n  } catch {}\n}\n',
    by: '@typescript-eslint/return-await',
  },
  {
    what: 'a switch without one of the cases',
    text: "export function run(kind: 'one' | 'two') {\n  switch (kind) {\n    case 'one':\n  }\n}\n",
    by: '@typescript-eslint/switch-exhaustiveness-check',
  },
  {
    what: 'what is deprecated',
    text: "import { types } from 'node:util';\n\nexport const known = types.isNativeError(1);\n",
    by: '@typescript-eslint/no-deprecated',
  },
];

describe('lint refuses', () => {
  let broken: string[][];

  beforeAll(async () => {
    broken = await rulesBroken(
      defects.map(({ text }) => ({ filePath: SAMPLE, text })),
      { types: true },
    );
  }, 180_000);

  it.each(defects.map(({ what, by }, index) => ({ what, by, index })))('$what', ({ by, index }) => {
    expect(broken[index]).toEqual([by]);
  });
});
