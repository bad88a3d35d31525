import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const FILES = globSync(['*.mjs', '{services,libs,deploy,tests,tools,scripts,charts,bench}/**/*.{ts,mjs,graphql}'], {
  cwd: root,
  exclude: (path) => path.includes('node_modules') || path.includes('.cache'),
});
const PAGES = ['docs/architecture.md', 'docs/service-shape.md', ...globSync('docs/guides/*.md', { cwd: root })];
/** What a guide asks its reader to make. */
const IS_EXAMPLE = /notes/;

/** Files of ours that a page names in the text, wherever they stand. */
function namedIn(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
  return [...text.matchAll(/`([\w./-]+\.(?:ts|mjs|graphql))`/g)].flatMap(([, name = '']) => name);
}

it.each(PAGES)('%s names files that are there', (page) => {
  const missing = namedIn(page).filter(
    (name) => !IS_EXAMPLE.test(name) && !FILES.some((file) => file === name || file.endsWith(`/${name}`)),
  );
  expect(missing).toEqual([]);
});
