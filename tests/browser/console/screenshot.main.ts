/** Takes the screenshot for docs/console.md: `node scripts/run.mjs tests/browser/console/screenshot.main.ts`. */
import { join } from 'node:path';
import { register } from '../../http.ts';
import { startProduct } from '../../product.ts';
import { launchBrowser, visit } from './browser.ts';
import { useConsole } from './screen.ts';

const FILE = join(import.meta.dirname, '../../../docs/console.png');

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
const TASKS = [
  { title: 'Renew the passport', dueDate: inDays(40), category: 'papers' },
  { title: 'Bring the bicycle to the workshop', completed: true },
  { title: 'Water the plants', category: 'home', description: 'The fern in the hall needs more than it shows.' },
  { title: 'Book the train to Bern', dueDate: inDays(1), category: 'travel', priority: 'high' },
  { title: 'Answer the letter from the tax office', dueDate: inDays(-3), category: 'papers' },
  { title: 'Read a good book', priority: 'low' },
];

const SEEN_AS = { viewport: { width: 900, height: 640 }, colorScheme: 'light', reducedMotion: 'reduce' } as const;

const product = await startProduct('start');
const browser = await launchBrowser();
try {
  const account = await register(product.url);
  for (const { title, ...more } of TASKS) await account.create(title, more);
  const { page } = await visit(browser, product.url, SEEN_AS);
  const { signIn, says } = useConsole(page);
  await signIn(account);
  await says('Read a good book');
  await page.screenshot({ path: FILE });
  console.log(`It is in ${FILE}.`);
} finally {
  await browser.close();
  await product.stop();
}
