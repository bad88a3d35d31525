import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { startMeasuredProduct } from './measured-product.ts';
import { createAccount, measureCase, measureCrowd, measureSlowness } from './suite.ts';

const { only, crowd } = parseArgs({
  options: { only: { type: 'string', default: '' }, crowd: { type: 'boolean', default: false } },
}).values;
const product = await startMeasuredProduct();
try {
  const account = await createAccount(product);
  const slowness = await measureSlowness(product, account);
  console.log(`slowness ${slowness.toFixed(2)}`);
  const before = await product.keptMib();
  for (const each of CASES) {
    const name = `${each.by}, ${each.kind}: ${each.name}`;
    if (!new RegExp(only).test(name)) continue;
    if (crowd) {
      const { cpuMs, pauseMs, privateMib, outcomes } = await measureCrowd(product, account, each, slowness);
      console.log(
        [cpuMs.toFixed(0), pauseMs.toFixed(0), privateMib.toFixed(0), name, JSON.stringify(outcomes)].join('\t'),
      );
    } else {
      const { cpuMs, pauseMs, privateMib, outcome } = await measureCase(product, account, each, slowness);
      const unexpected = outcome === each.outcome ? '' : `${outcome} (expected ${each.outcome})`;
      console.log([cpuMs.toFixed(1), pauseMs.toFixed(1), privateMib.toFixed(0), name, unexpected].join('\t'));
    }
  }
  console.log(`kept ${((await product.keptMib()) - before).toFixed(1)} MiB`);
} finally {
  await product.stop();
}
