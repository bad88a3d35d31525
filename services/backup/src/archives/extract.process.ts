import { runChildJob } from '@taskmesh/pg-rows/child';
import { unpackArchive, type Unpacking } from './unpack-archive.ts';

runChildJob((unpacking: Unpacking) => unpackArchive(process.stdin, unpacking));
