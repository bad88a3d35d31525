import { createServer } from 'node:http';
import { listen } from '../machine/child.ts';

// Takes traces, and forgets them.
listen(createServer((request, response) => void request.resume().on('end', () => response.end())));
