import { createFaultyProxy, eventually, type FaultyProxy, fastestOf } from '@taskmesh/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAccount, readList, type Account } from '../../client/device.ts';
import { createRest } from '../../support/http.ts';
import { createRandom } from '../../faults/random.ts';
import { visit, type Visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

/** How long the network misbehaves. */
const TROUBLE_MS = 8_000;
/** From the last cut until every list is as the server has it. */
const EQUAL_WITHIN_MS = 2_000;
const SEED = 23;

const LIST = '/#/tasks?show=all&sort=changed';

interface Device extends Visit {
  network: FaultyProxy;
  screen: ReturnType<typeof useConsole>;
}

/** A browser with a network of its own to the platform. */
async function openDevice(account: Account): Promise<Device> {
  const { hostname: host, port } = new URL(url());
  const network = await createFaultyProxy({ host, port: Number(port) });
  const opened = await visit(browser(), `http://${network.host}:${network.port}${LIST}`);
  const screen = useConsole(opened.page);
  await screen.signIn(account);
  await screen.says('Nothing to do yet');
  return { ...opened, network, screen };
}

const newUser = async () => {
  const account = newAccount();
  const { body } = await createRest(url())<{ access_token: string }>('POST', '/auth/signup', {
    body: { ...account, name: 'Ada' },
  });
  return { account, token: body.access_token };
};

const shownBy = ({ page }: Device) =>
  page.evaluate<{ title: string; done: boolean }[]>(`[...document.querySelectorAll('.task')].map((row) => ({
    title: row.querySelector('.title').lastChild.textContent, done: row.querySelector('.tick').checked }))`);

it('two browsers and a program have the same list soon after the last cut: nothing is lost, nothing is there twice', async () => {
  const { account, token } = await newUser();
  const devices = [await openDevice(account), await openDevice(account)];
  const random = createRandom(SEED);
  const until = performance.now() + TROUBLE_MS;
  const created: string[] = [];
  const title = () => {
    created.push(`task ${created.length + 1}`);
    return created.at(-1) ?? '';
  };

  const useScreen = async ({ screen, page }: Device) => {
    while (performance.now() < until) {
      const titles = await screen.titles();
      const one = titles[Math.floor(random() * titles.length)];
      if (one === undefined || random() < 0.6) await screen.add(title());
      // Rows move: it is ticked wherever it is by then.
      else
        await page.evaluate(`[...document.querySelectorAll('.tick')]
            .find((tick) => tick.ariaLabel === ${JSON.stringify(`Done: ${one}`)})?.click()`);
      await sleep(50 + random() * 150);
    }
  };
  const useProgram = async () => {
    const rest = createRest(url());
    while (performance.now() < until) {
      const { status } = await rest('POST', '/tasks', { token, body: { title: title() } });
      expect(status).toBe(201);
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
    await createRest(url())('POST', '/tasks', { token, body: { title: title() } });
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
  for (const { page, problems, close, network } of devices) {
    expect(await page.getByText(/was not added|was not changed/).count()).toBe(0);
    expect(problems).toEqual([]);
    await close();
    await network.close();
  }
});

it('a restored backup is what every browser shows, without being loaded again', async () => {
  const { account } = await newUser();
  const devices = [await openDevice(account), await openDevice(account)];
  const [first] = devices as [Device, ...Device[]];
  const rest = createRest(url());
  await first.screen.add('in the backup');
  for (const { screen } of devices) await screen.lists(['in the backup']);
  const { body } = await rest<{ data: { file: string } }>('POST', '/backups');
  await first.screen.add('made since');
  for (const { screen } of devices) await screen.lists(['made since', 'in the backup']);
  await first.screen.settles();

  expect((await rest('POST', `/backup/restore?file=${body.data.file}`)).status).toBe(200);
  for (const { screen } of devices) await screen.lists(['in the backup']);
  await first.screen.add('made behind it');
  for (const { screen, problems, close, network } of devices) {
    await screen.lists(['made behind it', 'in the backup']);
    expect(problems).toEqual([]);
    await close();
    await network.close();
  }
}, 180_000);
