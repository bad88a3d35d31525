import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Finds field borders with a contrast below 3:1 (WCAG 1.4.11), for which axe has no rule. Ignores transparent borders. */
const FAINT_BORDERS = `(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = (colour) =>
    rgba(colour).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const contrast = (one, other) => {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const background = (element) => {
    const colour = element ? getComputedStyle(element).backgroundColor : 'Canvas';
    return element && rgba(colour)[3] < 255 ? background(element.parentElement) : colour;
  };
  return [...document.querySelectorAll('input:not([type=checkbox], [type=radio]), select, textarea, .segments, .quick-add')]
    .filter((element) => element.checkVisibility() && rgba(getComputedStyle(element).borderTopColor)[3] === 255)
    .map((element) => ({ element, ratio: contrast(getComputedStyle(element).borderTopColor, background(element.parentElement)) }))
    .filter(({ ratio }) => ratio < 3)
    .map(({ element, ratio }) => 'border: ' + ratio.toFixed(2) + ':1  ' + element.outerHTML.slice(0, 200));
})()`;

/** Returns axe's violations on the current page, and faint borders. */
export async function barriersIn(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  // Waits for the end of all animations.
  await page.evaluate(`Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {})))`);
  const { violations } = await page.evaluate<Found>(`axe.run(document, { resultTypes: ['violations'] })`);
  const found = violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  );
  return [...found, ...(await page.evaluate<string[]>(FAINT_BORDERS))];
}
