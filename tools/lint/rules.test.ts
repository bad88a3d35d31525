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
    text: `async function work() {}
export async function run() {
  try {
    return work();
  } catch {
    return undefined;
  }
}
`,
    by: '@typescript-eslint/return-await',
  },
  {
    what: 'a switch without one of the cases',
    text: `export function run(kind: 'one' | 'two') {
  switch (kind) {
    case 'one':
      return 1;
  }
  return 2;
}
`,
    by: '@typescript-eslint/switch-exhaustiveness-check',
  },
  {
    what: 'what is deprecated',
    text: "import { types } from 'node:util';\n\nexport const known = types.isNativeError(1);\n",
    by: '@typescript-eslint/no-deprecated',
  },
  {
    what: 'files that import each other, even for types alone',
    filePath: 'libs/service/src/lifecycle.ts',
    text: "import type { AdminRoute } from './admin-server.ts';\n\nexport type Route = AdminRoute;\n",
    by: 'taskmesh/no-cycle',
  },
  {
    what: 'folders of the gateway that import each other, through other files',
    filePath: 'services/gateway/src/http/app.ts',
    text: "import { wantsPage } from '../pages/page.ts';\n\nexport const isForPeople = wantsPage;\n",
    by: 'taskmesh/no-cycle',
  },
  {
    what: 'a name that no script has',
    filePath: 'scripts/run.mjs',
    text: 'export const value = unknownName;\n',
    by: 'no-undef',
  },
  {
    what: 'a statement among other code',
    filePath: 'services/tasks/src/feed/cursors.ts',
    text: "import type { Statement } from '@taskmesh/store';\n\nexport const NOW: Statement = { name: 'now', text: 'select now()' };\n",
    by: 'no-restricted-syntax',
  },
  {
    what: 'a service whose use cases have to be guessed from its code',
    filePath: 'services/tasks/src/tasks/task.service.ts',
    text: 'export const createTaskService = () => ({});\nexport type TaskService = ReturnType<typeof createTaskService>;\n',
    by: 'no-restricted-syntax',
  },
  {
    what: 'a repository that is described twice',
    filePath: 'services/tasks/src/tasks/task.repository.ts',
    text: 'export interface TaskRepository {\n  find(): Promise<void>;\n}\n',
    by: 'no-restricted-syntax',
  },
  { what: 'nothing in a text in order', text: 'export const one = 1;\n', by: undefined },
];

const isInSample = ({ filePath }: { filePath: string }) => filePath === SAMPLE;

describe('lint refuses', () => {
  let broken: string[][];

  beforeAll(async () => {
    const texts = defects.map(({ text, filePath = SAMPLE }) => ({ filePath, text }));
    const [withTypes, without] = await Promise.all([
      rulesBroken(texts.filter(isInSample), { types: true }),
      rulesBroken(
        texts.filter((each) => !isInSample(each)),
        { types: false },
      ),
    ]);
    broken = texts.map((each) => (isInSample(each) ? withTypes : without).shift() ?? []);
  }, 180_000);

  it.each(defects.map(({ what, by }, index) => ({ what, by, index })))('$what', ({ by, index }) => {
    expect(broken[index]).toEqual(by === undefined ? [] : [by]);
  });
});
