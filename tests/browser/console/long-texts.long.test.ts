import { register } from '../../http.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

const LONG = 'papers and letters '.repeat(14).slice(0, 255).trim();
const WITHOUT_BLANKS = 'x'.repeat(255);

it.each([
  ['a phone', { width: 360, height: 740 }],
  ['a desk', { width: 1280, height: 900 }],
])('a very long category takes one line on %s, and is there in full for who asks', async (_where, viewport) => {
  const account = await register(url());
  const create = (title: string, category: string) =>
    account.create(title, { category, due_date: '2999-01-01T00:00:00Z' });
  await create('with a short one', 'home');
  await create('with a long one', LONG);
  await create('without blanks', WITHOUT_BLANKS);
  const { page, signIn, lists, titleOf } = await open({ viewport });
  await signIn(account);
  await lists(['without blanks', 'with a long one', 'with a short one']);
  const categories = page.locator('.meta .category bdi');
  const heights = await Promise.all((await categories.all()).map(async (each) => (await each.boundingBox())?.height));
  expect(new Set(heights).size).toBe(1);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(await categories.nth(1).getAttribute('title')).toBe(LONG);
  await titleOf('with a long one').click();
  expect(await page.getByRole('form').getByRole('combobox', { name: 'Category' }).inputValue()).toBe(LONG);
});
