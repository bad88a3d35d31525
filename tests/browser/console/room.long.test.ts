import { eventually } from '@taskmesh/testing';
import { usePlatform } from './use-platform.ts';

const { open } = usePlatform();

/** The parts of the open editor that are not on the screen, or covered there. */
const HIDDEN_PARTS = `[...document.querySelectorAll('.editor :is(input, select, textarea, button)')].filter((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return !part.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((part) => part.textContent || part.labels[0].textContent)`;

const PHONE = { width: 375, height: 700 };
const DESK = { width: 1280, height: 800 };
/** Two lines of text do not fit. */
const ONE_LINE = 60;
/** Long before it would go by itself. */
const AT_ONCE = { timeoutMs: 2_000 };

it.each([PHONE, DESK])('an editor that opens is on the screen as a whole, in a window of %j', async (viewport) => {
  const { page, signUp, add, lists, titleOf, field } = await open({ viewport });
  await signUp();
  const titles = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((number) => `task ${number}`);
  for (const title of titles) await add(title);
  await lists(titles.toReversed());
  for (const title of titles.toReversed()) {
    await titleOf(title).click();
    expect(await field('Title').inputValue()).toBe(title);
    await eventually(async () => expect(await page.evaluate<string[]>(HIDDEN_PARTS)).toEqual([]));
    await page.keyboard.press('Escape');
  }
});

it('a message that can be taken back takes one line of a phone, and does not follow to another view', async () => {
  const { page, signUp, add, lists, tick, goTo } = await open({ viewport: PHONE });
  const title = 'Bring the bicycle to the workshop, and ask whether the brakes can be mended until Friday';
  const messages = page.getByRole('status', { name: 'Messages' });
  await signUp();
  await add(title);
  await lists([title]);
  await tick(title);
  await messages.getByText(title).waitFor();
  expect((await messages.boundingBox())?.height).toBeLessThan(ONE_LINE);
  await goTo('Sessions');
  await eventually(async () => expect(await messages.getByRole('button').count()).toBe(0), AT_ONCE);
});
