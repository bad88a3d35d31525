import { parseOptions, PlainError, runCommand, say } from '@taskmesh/local';
import { resolve } from 'node:path';
import { buildImage, exportImage, whyNoImages } from './images.ts';

const HELP = `npm run image -- [--all | --servers] [--name NAME:TAG] [--to FILE]
Builds an image with buildah and writes it to an archive for \`docker load\` or \`ctr images import\` (taskmesh.tar, as
taskmesh:0.1.0): the image of the services, with --all the one that runs everything in one container, or with --servers the
one of PostgreSQL, Redis and Kafka for \`npm run test:cluster\`.
NODE_IMAGE and RUNTIME_IMAGE name the base images; a Debian image is built for whichever is not set.`;

await runCommand({
  async start() {
    const values = parseOptions(process.argv.slice(2), { texts: ['name', 'to'], flags: ['all', 'servers'] });
    const { name = 'taskmesh:0.1.0', to = 'taskmesh.tar' } = values;
    if (values.help) return say(HELP);
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
