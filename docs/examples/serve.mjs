// Serves this folder, and the two libraries that the page uses, to a browser on this machine: node docs/examples/serve.mjs
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const MODULES = join(HERE, '..', '..', 'node_modules');
const TYPES = { '.html': 'text/html', '.css': 'text/css', '.mjs': 'text/javascript', '.js': 'text/javascript' };

/** Without the query, which the page does not use. `//` and the like are paths here, not hosts. */
const pathOf = ({ url }) => url.split('?', 1)[0];

/** Where a path of the page is on the disk. Names without dots in a row: nothing outside can be asked for. */
function fileOf(path) {
  if (path === '/') return join(HERE, 'index.html');
  if (/^\/(feeds\/)?[a-z-]+\.(mjs|css)$/.test(path)) return join(HERE, path);
  if (path === '/lib/supabase.js') return join(MODULES, '@supabase/supabase-js/dist/umd/supabase.js');
  const [, name] = /^\/lib\/graphql-ws\/([\w-]+\.js)$/.exec(path) ?? [];
  return name && join(MODULES, 'graphql-ws/dist', name);
}

const server = createServer(async (request, response) => {
  const file = fileOf(pathOf(request));
  const content = file && (await readFile(file).catch(() => undefined));
  if (!content) return response.writeHead(404).end();
  response.writeHead(200, { 'content-type': `${TYPES[extname(file)]}; charset=utf-8`, 'cache-control': 'no-cache' });
  response.end(content);
});

server.on('error', (error) => {
  console.error(`The page cannot be served: ${error.message}. PORT names another port.`);
  process.exitCode = 1;
});
server.listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  console.log(`Open ${origin}/ in a browser.`);
  console.log(`Taskmesh has to let the page in: CORS_ORIGINS=${origin} npm start`);
});
