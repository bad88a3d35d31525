import { reportUrl } from '../machine/child.ts';
import { createBareServer } from './server.ts';

const app = await createBareServer(process.env.POSTGRES_URL ?? '');
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
reportUrl(await app.listen({ port: 0, host: '127.0.0.1' }));
