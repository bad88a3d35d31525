import { createServer } from 'node:http';
import { listen } from '../machine/child.ts';

// Accepts traces and discards them.
listen(createServer((request, response) => void request.resume().on('end', () => response.end())));
