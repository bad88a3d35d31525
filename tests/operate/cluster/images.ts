/** Where the cluster finds the images: `npm run image -- --all`, `-- --servers` and without either make them. */
export const REPOSITORY = process.env.TASKMESH_CLUSTER_IMAGE ?? 'taskmesh';
const VERSION = '0.2.0';

export const IMAGE = `${REPOSITORY}:${VERSION}`;
export const SERVERS_IMAGE = `${REPOSITORY}:${VERSION}-servers`;
