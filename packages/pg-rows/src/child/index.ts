export { runChildJob } from './child-job.ts';
export { runInChild, type Job } from './child-process.ts';
