import { parseOptions, PlainError, runCommand, printLine } from '@taskmesh/local';
import { resolve } from 'node:path';
import { buildImage, exportImage, findImageProblem } from './images.ts';

await runCommand({
  async start() {
    const values = parseOptions(process.argv.slice(2), { texts: ['name', 'to'], flags: ['all', 'servers'] });
    const why = findImageProblem();
    if (why) throw new PlainError(`No image can be built here: ${why}.`);
    const target = values.servers ? 'servers' : values.all ? 'all' : 'services';
    const suffix = target === 'services' ? '' : `-${target}`;
    const { name = `taskmesh:0.2.0${suffix}`, to = `taskmesh${suffix}.tar` } = values;
    const file = resolve(to);
    printLine(`Building ${name} (${target}) …`);
    await buildImage(target);
    await exportImage(target, { name, file });
    printLine(`It is in ${file}.`);
  },
});
