import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('..', import.meta.url);
const LIMITS_FILE = new URL('weight.json', ROOT);
const CODE = /\.(?:ts|tsx|mts|mjs|js|css)$/;
const TEST = /(?:^|\/)(?:tests?|fakes|fixtures)\/|\.test\.|\.contract\.ts$|^libs\/testing\//;
const TWO_LEVEL_FOLDERS = /^(?:services|libs|packages|deploy|charts)$/;

type Weights = Record<string, { product: number; tests: number }>;

const args = process.argv.slice(2);
if (!args.every((arg) => arg === '--write')) {
  console.error(readFileSync(new URL('weight.help.txt', import.meta.url), 'utf8').trim());
  process.exit(2);
}

const weights = measure();
if (args.includes('--write')) {
  writeFileSync(
    LIMITS_FILE,
    `${JSON.stringify(weights, undefined, 2).replaceAll(/\{\n\s+("product.+)\n\s+("tests.+)\n\s+\}/g, '{ $1 $2 }')}\n`,
  );
} else {
  const limits: Weights = JSON.parse(readFileSync(LIMITS_FILE, 'utf8'));
  const grown = Object.entries(weights).flatMap(([part, of]) =>
    (['product', 'tests'] as const).flatMap((kind) => {
      const limit = limits[part]?.[kind] ?? 0;
      return of[kind] > limit ? [`${part} has ${of[kind]} lines of ${kind}; weight.json permits ${limit}.`] : [];
    }),
  );
  for (const line of grown) console.error(line);
  if (grown.length > 0) process.exitCode = 1;
}

function measure(): Weights {
  const sums: Weights = {};
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');
  for (const file of files.filter((name) => CODE.test(name) && !name.includes('generated')).toSorted()) {
    const url = new URL(file, ROOT);
    if (!existsSync(url)) continue; // deleted, and not committed yet
    const sum = (sums[partOf(file)] ??= { product: 0, tests: 0 });
    sum[TEST.test(file) ? 'tests' : 'product'] += codeLines(readFileSync(url, 'utf8'));
  }
  return Object.fromEntries(Object.entries(sums).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function partOf(file: string): string {
  if (file.startsWith('services/gateway/console')) return 'console';
  const [top = '', second = ''] = file.split('/');
  return TWO_LEVEL_FOLDERS.test(top) ? `${top}/${second}` : top;
}

function codeLines(text: string): number {
  const lines = text.replaceAll(/\/\*.*?\*\//gs, '').split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length;
}
