import { doJob } from '../child-job.ts';
import { unpackArchive, type Unpacking } from './unpack-archive.ts';

doJob((order: Unpacking) => unpackArchive(process.stdin, order));
