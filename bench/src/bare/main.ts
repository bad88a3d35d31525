import { createBareServer } from './create-bare-server.ts';

const app = await createBareServer(process.env.POSTGRES_URL ?? '');
const url = await app.listen({ port: 0, host: '127.0.0.1' });
// Whoever started this process holds the other end of the channel; without it there is nobody to serve.
process.once('disconnect', () => process.exit(0));
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
process.send?.({ url });
