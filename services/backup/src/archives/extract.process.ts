import { runChildJob } from '../child-job.ts';
import { unpackArchive, type Unpacking } from './unpack-archive.ts';

runChildJob((order: Unpacking) => unpackArchive(process.stdin, order));
