/** For engines whose health check is a command: exits with 0 when this container's process is ready. */
const { ADMIN_PORT, PORT } = process.env;
const port = ADMIN_PORT || String(Number(PORT || 4000) + 10_000);
const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
