import { takeJourney } from './journey.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

it('a new user finds their way through the console, from the account to the sign-out', async () => {
  await takeJourney(browser(), url());
}, 180_000);
