import type { Rule } from 'eslint';
import { readFileSync, statSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import ts from 'typescript';

interface Import {
  file: string;
  /** Where the name of the file stands. */
  at: number;
}

const known = new Map<string, { mtimeMs: number; imports: Import[] }>();

/** Files that import each other, for their types too: `import-x/no-cycle` sees no imports of types alone. */
export const noCycle: Rule.RuleModule = {
  meta: { type: 'problem', schema: [], messages: { cycle: 'These files import each other: {{ files }}.' } },
  create: (context) => ({
    Program() {
      const { filename, sourceCode } = context;
      for (const { file, at } of importsIn(sourceCode.text, filename)) {
        const way = wayTo(filename, file);
        if (!way) continue;
        const files = [filename, ...way].map((each) => relative(context.cwd, each)).join(' → ');
        context.report({ loc: sourceCode.getLocFromIndex(at), messageId: 'cycle', data: { files } });
      }
    },
  }),
};

/** The files on the shortest way to one, itself the last. */
function wayTo(end: string, begin: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[begin, undefined]]);
  // A map is walked in the order of its entries, with those that are added meanwhile.
  for (const file of cameFrom.keys()) {
    if (file === end) return wayBack(cameFrom, file);
    for (const { file: next } of importsOf(file)) if (!cameFrom.has(next)) cameFrom.set(next, file);
  }
  return undefined;
}

function wayBack(cameFrom: Map<string, string | undefined>, last: string): string[] {
  const way: string[] = [];
  for (let file: string | undefined = last; file !== undefined; file = cameFrom.get(file)) way.unshift(file);
  return way;
}

function importsOf(file: string): Import[] {
  const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (mtimeMs === undefined) return []; // the compiler complains
  const before = known.get(file);
  if (before?.mtimeMs === mtimeMs) return before.imports;
  const imports = importsIn(readFileSync(file, 'utf8'), file);
  known.set(file, { mtimeMs, imports });
  return imports;
}

function importsIn(text: string, file: string): Import[] {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles
    .filter(({ fileName }) => /^\..*\.(m?ts|tsx)$/.test(fileName))
    .map(({ fileName, pos }) => ({ file: resolve(dirname(file), fileName), at: pos }));
}
