/** The repository of the images, which `npm run image`, `npm run image -- --all` and `-- --servers` build. */
export const REPOSITORY = process.env.TASKMESH_CLUSTER_IMAGE ?? 'taskmesh';
const VERSION = '0.2.0';

export const IMAGE = `${REPOSITORY}:${VERSION}`;
export const SERVERS_IMAGE = `${REPOSITORY}:${VERSION}-servers`;
