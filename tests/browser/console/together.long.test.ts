import { createFaultyProxy, createRandom, eventually, fastestOf } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { readList } from '../../client/device.ts';
import { type Account, makeBackup, register, restoreBackup } from '../../http.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

/** How long the network misbehaves. */
const TROUBLE_MS = 8_000;
/** The time from the last cut until every list must equal the server's. */
const EQUAL_WITHIN_MS = 2_000;
const SEED = 23;

const LIST = '/#/tasks?show=all&sort=changed';

type Device = Awaited<ReturnType<typeof openDevice>>;

/** Opens a browser whose connection to the platform can be cut. */
async function openDevice(account: Account) {
  const { hostname: host, port } = new URL(url());
  const network = await createFaultyProxy({ host, port: Number(port) });
  const screen = await open({}, `http://${network.host}:${network.port}${LIST}`);
  await screen.signIn(account);
  await screen.says('Nothing to do yet');
  return { ...screen, network };
}

const shownBy = ({ page }: Device) =>
  page.evaluate<{ title: string; done: boolean }[]>(`[...document.querySelectorAll('.task')].map((row) => ({
    title: row.querySelector('.title').lastChild.textContent, done: row.querySelector('.tick').checked }))`);

it('two browsers and a program have the same list soon after the last cut, without losses and duplicates', async () => {
  const account = await register(url());
  const devices = [await openDevice(account), await openDevice(account)];
  const random = createRandom(SEED);
  const until = performance.now() + TROUBLE_MS;
  const created: string[] = [];
  const title = () => {
    created.push(`task ${created.length + 1}`);
    return created.at(-1) ?? '';
  };

  const useScreen = async ({ titles: read, add, page }: Device) => {
    while (performance.now() < until) {
      const titles = await read();
      const one = titles[Math.floor(random() * titles.length)];
      if (one === undefined || random() < 0.6) await add(title());
      // Rows move, so the box is found by its label and ticked in one step.
      else
        await page.evaluate(`[...document.querySelectorAll('.tick')]
            .find((tick) => tick.ariaLabel === ${JSON.stringify(`Done: ${one}`)})?.click()`);
      await sleep(50 + random() * 150);
    }
  };
  const useProgram = async () => {
    while (performance.now() < until) {
      expect(await account.create(title())).toEqual(expect.any(String));
      await sleep(100 + random() * 300);
    }
  };
  const disturb = async ({ network }: Device) => {
    while (performance.now() < until) {
      await sleep(random() * 1_200);
      if (random() < 0.3) network.strand();
      await network.cut();
      await sleep(random() * 400);
      await network.restore();
    }
  };
  await Promise.all([useProgram(), ...devices.flatMap((each) => [useScreen(each), disturb(each)])]);

  const allEqual = () =>
    eventually(async () => {
      const expected = (await readList(url(), account)).map((task) => task.title);
      for (const each of devices) {
        expect(await each.page.locator('.waits').count()).toBe(0);
        expect((await shownBy(each)).map((task) => task.title)).toEqual(expected);
      }
    });
  await allEqual();
  const equalMs = await fastestOf(async () => {
    for (const { network } of devices) await network.cut();
    await account.create(title());
    for (const { network } of devices) await network.restore();
    const lastCut = performance.now();
    await allEqual();
    return performance.now() - lastCut;
  });
  expect(equalMs).toBeLessThan(EQUAL_WITHIN_MS);
  console.log(`${created.length} tasks; equal ${Math.round(equalMs)} ms after the last cut`);
  const [one = [], other] = await Promise.all(devices.map(shownBy));
  expect(other).toEqual(one);
  expect(one.map((task) => task.title).toSorted()).toEqual(created.toSorted());
  for (const { page } of devices) {
    expect(await page.getByText(/was not added|was not changed/).count()).toBe(0);
  }
});

it('every browser shows a restored backup without a reload', async () => {
  const account = await register(url());
  const devices = [await openDevice(account), await openDevice(account)];
  const [first] = devices as [Device, ...Device[]];
  await first.add('in the backup');
  for (const { lists } of devices) await lists(['in the backup']);
  const file = await makeBackup(url());
  await first.add('made since');
  for (const { lists } of devices) await lists(['made since', 'in the backup']);
  await first.settles();

  expect((await restoreBackup(url(), file)).status).toBe(200);
  for (const { lists } of devices) await lists(['in the backup']);
  await first.add('made behind it');
  for (const { lists } of devices) {
    await lists(['made behind it', 'in the backup']);
  }
});
