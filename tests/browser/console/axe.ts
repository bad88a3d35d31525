import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** What axe has to say against the page as it is now; nothing is left out but the rules that are no more than advice. */
export async function barriersIn(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  // What moves is seen in its end.
  await page.evaluate(`Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})))`);
  const { violations } = await page.evaluate<Found>(`axe.run(document, { resultTypes: ['violations'] })`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
}
