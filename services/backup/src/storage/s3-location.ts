import { isUrl } from '@taskmesh/service';

export interface S3Location {
  bucket: string;
  /** The prefix of keys; empty, or ends in a slash. */
  prefix: string;
  /** If undefined, the AWS SDK finds it (AWS_REGION, the profile). */
  region: string | undefined;
  /** If undefined, Amazon's own. */
  endpoint: string | undefined;
  /** Whether the bucket is in the path instead of the host name. */
  pathStyle: boolean;
  /** If undefined, the AWS SDK finds them (AWS_ACCESS_KEY_ID, a web identity, the machine's role …). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Most other servers ignore the region, but the signature needs one. */
const ANY_REGION = 'us-east-1';

/**
 * Parses `s3://[key:secret@]bucket[/prefix][?region=…&endpoint=https://…&pathStyle=true|false]`. With an endpoint,
 * `pathStyle` is true by default. Returns undefined for any other text.
 */
export function parseS3Url(text: string): S3Location | undefined {
  if (!isUrl(text)) return undefined;
  const { protocol, hostname, port, pathname, hash, username, password, searchParams } = new URL(text);
  const { region, endpoint, pathStyle, ...unknown } = Object.fromEntries(searchParams);
  if (protocol !== 's3:' || !BUCKET.test(hostname) || port !== '' || hash !== '') return undefined;
  if (Object.keys(unknown).length > 0 || (username === '') !== (password === '')) return undefined;
  if (endpoint !== undefined && !isHttpUrl(endpoint)) return undefined;
  if (pathStyle !== undefined && pathStyle !== 'true' && pathStyle !== 'false') return undefined;
  const folder = decodeURIComponent(pathname).replaceAll(/^\/+|\/+$/g, '');
  return {
    bucket: hostname,
    prefix: folder === '' ? '' : `${folder}/`,
    region: region ?? (endpoint === undefined ? undefined : ANY_REGION),
    endpoint,
    pathStyle: pathStyle === undefined ? endpoint !== undefined : pathStyle === 'true',
    credentials:
      username === ''
        ? undefined
        : { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) },
  };
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}
