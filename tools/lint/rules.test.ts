import { rulesBroken } from '../tests/rules-broken.ts';

const SAMPLE = 'tools/lint/sample/sample.ts';

const defects: [what: string, text: string, by: string][] = [
  [
    'a promise that is not awaited',
    'async function work() {}\nexport function run() {\n  work();\n}\n',
    'no-floating-promises',
  ],
  ['a wait for what is no promise', 'export async function run() {\n  await 1;\n}\n', 'await-thenable'],
  [
    'a promise for somebody who does not wait',
    'export const timer = setTimeout(async () => undefined, 1);\n',
    'no-misused-promises',
  ],
  [
    'a promise that leaves its try block unawaited',
    'async function work() {}\nexport async function run() {\n  try {\n    return work();\n  } catch {}\n}\n',
    'return-await',
  ],
  [
    'a switch without one of the cases',
    "export function run(kind: 'one' | 'two') {\n  switch (kind) {\n    case 'one':\n  }\n}\n",
    'switch-exhaustiveness-check',
  ],
  [
    'what is deprecated',
    "import { types } from 'node:util';\n\nexport const known = types.isNativeError(1);\n",
    'no-deprecated',
  ],
];

let broken: string[][];

beforeAll(async () => {
  const samples = defects.map(([, text]) => ({ filePath: SAMPLE, text }));
  broken = await rulesBroken(samples, { types: true });
}, 180_000);

it.each(defects.map(([what, , by], index) => ({ what, by, index })))('lint refuses $what', ({ by, index }) => {
  expect(broken[index]).toEqual([`@typescript-eslint/${by}`]);
});
