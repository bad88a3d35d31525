import { runChildJob } from '@taskmesh/pg-rows/child';
import { unpackArchive, type Unpacking } from './unpack-archive.ts';

runChildJob((order: Unpacking) => unpackArchive(process.stdin, order));
