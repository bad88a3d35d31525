import { parseOptions, PlainError, runCommand, say } from '@taskmesh/local';
import { resolve } from 'node:path';
import { buildImage, exportImage, whyNoImages } from './images.ts';

await runCommand({
  async start() {
    const values = parseOptions(process.argv.slice(2), { texts: ['name', 'to'], flags: ['all', 'servers'] });
    const { name = 'taskmesh:0.2.0', to = 'taskmesh.tar' } = values;
    const why = whyNoImages();
    if (why) throw new PlainError(`No image can be built here: ${why}.`);
    const target = values.servers ? 'servers' : values.all ? 'all' : 'services';
    const file = resolve(to);
    say(`Building ${name} (${target}) …`);
    await buildImage(target);
    await exportImage(target, { name, file });
    say(`It is in ${file}.`);
  },
});
