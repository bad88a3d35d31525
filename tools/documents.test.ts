import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(import.meta.dirname, '..');
const isForeign = (path: string) => path.includes('node_modules') || path.includes('.cache');
const FILES = globSync(
  ['*.mjs', '{services,packages,libs,deploy,tests,tools,scripts,charts,bench}/**/*.{ts,mjs,graphql}'],
  { cwd: root, exclude: isForeign },
);
const DOCUMENTS = globSync('**/*.md', { cwd: root, exclude: isForeign });
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const PAGES = ['docs/architecture.md', 'docs/service-shape.md', ...globSync('docs/guides/*.md', { cwd: root })];
/** Files that a guide asks its reader to create. */
const IS_EXAMPLE = /\bnotes?\b/;

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const proseOf = (page: string) => textOf(page).replaceAll(/^```[^]*?^```/gm, '');

/** Returns the anchors that GitHub creates for a page's headings. */
function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of proseOf(page).matchAll(/^#+ (.*)$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words.replaceAll(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-');
    let again = 0;
    while (anchors.has(again ? `${anchor}-${again}` : anchor)) again += 1;
    anchors.add(again ? `${anchor}-${again}` : anchor);
  }
  return anchors;
}

/** Returns all that the first group of a pattern finds in a text. */
const namesIn = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = '']) => name);

/** Returns the broken links of a page to places in the repository. */
const brokenLinks = (page: string) =>
  namesIn(proseOf(page), /\]\(([^)\s]+)\)/g).filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path ? normalize(join(dirname(page), path)) : page;
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });

it.each(PAGES)('%s mentions only existing files', (page) => {
  const isThere = (name: string) => FILES.some((file) => file === name || file.endsWith(`/${name}`));
  const named = namesIn(proseOf(page), /`([\w./-]+\.(?:ts|mjs|graphql))`/g);
  expect(named.filter((name) => !IS_EXAMPLE.test(name) && !isThere(name))).toEqual([]);
});

it.each(DOCUMENTS)('%s has only valid links, and mentions only existing commands', (page) => {
  expect(brokenLinks(page)).toEqual([]);
  expect(namesIn(textOf(page), /npm run (?:-s )?([\w:-]+)/g).filter((name) => !(name in scripts))).toEqual([]);
  const files = namesIn(textOf(page), /scripts\/run\.mjs ([\w./-]+\.ts)/g);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it('what front ends take from the examples imports nothing, so that it can be bundled for a page', () => {
  expect(textOf('docs/examples/front-ends/changes.mjs')).not.toMatch(/^import |process\./m);
});
