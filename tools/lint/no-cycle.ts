import type { Rule } from 'eslint';
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import ts from 'typescript';

interface Import {
  file: string;
  /** The position of the file's name in the text. */
  at: number;
}

const known = new Map<string, { mtimeMs: number; imports: Import[] }>();

interface Options {
  /** The folders directly in one of these must not import each other in a circle either, except in tests. */
  folders?: string[];
}

/** Reports files that import each other, even only for types, which `import-x/no-cycle` ignores. */
export const noCycle: Rule.RuleModule = {
  meta: {
    type: 'problem',
    schema: [
      {
        type: 'object',
        properties: { folders: { type: 'array', items: { type: 'string' } } },
        additionalProperties: false,
      },
    ],
    messages: {
      files: 'These files import each other: {{ way }}.',
      folders: 'These folders import each other: {{ way }}.',
    },
  },
  create: (context) => ({
    Program() {
      const { filename, sourceCode, cwd } = context;
      const { folders = [] } = (context.options[0] ?? {}) as Options; // as the schema says
      const base = isTest(filename) ? undefined : folders.map((each) => join(cwd, each)).find(isAbove(filename));
      for (const { file, at } of importsIn(sourceCode.text, filename)) {
        const loc = sourceCode.getLocFromIndex(at);
        const way = wayTo(filename, file, filesImportedBy);
        if (way) {
          const names = [filename, ...way].map((each) => relative(cwd, each));
          context.report({ loc, messageId: 'files', data: { way: names.join(' → ') } });
        }
        if (base === undefined) continue;
        const [own, other] = [folderOf(base, filename), folderOf(base, file)];
        if (own === undefined || other === undefined || own === other) continue;
        const back = wayTo(own, other, (folder) => foldersImportedBy(base, folder));
        if (back) context.report({ loc, messageId: 'folders', data: { way: [own, ...back].join(' → ') } });
      }
    },
  }),
};

const isTest = (file: string): boolean => file.endsWith('.test.ts');

const isAbove = (file: string) => (folder: string) => file.startsWith(folder + sep);

/** Returns undefined for a file that is directly in the base, or outside of it. */
function folderOf(base: string, file: string): string | undefined {
  const [folder, ...rest] = relative(base, file).split(sep);
  return rest.length > 0 && folder !== '..' ? folder : undefined;
}

function foldersImportedBy(base: string, folder: string): Set<string> {
  const imported = new Set<string>();
  for (const file of globSync('**/*.ts', { cwd: join(base, folder) }).filter((each) => !isTest(each))) {
    for (const each of filesImportedBy(join(base, folder, file))) {
      const other = folderOf(base, each);
      if (other !== undefined && other !== folder) imported.add(other);
    }
  }
  return imported;
}

/** Returns the shortest way from `begin` to `end`, including both. */
function wayTo(end: string, begin: string, nextOf: (each: string) => Iterable<string>): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[begin, undefined]]);
  // Iterating over a map includes entries that are added meanwhile, so this is a breadth-first search.
  for (const each of cameFrom.keys()) {
    if (each === end) return wayBack(cameFrom, each);
    for (const next of nextOf(each)) if (!cameFrom.has(next)) cameFrom.set(next, each);
  }
  return undefined;
}

const filesImportedBy = (file: string): string[] => importsOf(file).map((each) => each.file);

function wayBack(cameFrom: Map<string, string | undefined>, last: string): string[] {
  const way: string[] = [];
  for (let each: string | undefined = last; each !== undefined; each = cameFrom.get(each)) way.unshift(each);
  return way;
}

function importsOf(file: string): Import[] {
  const mtimeMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (mtimeMs === undefined) return []; // reported by the compiler
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
