/** Which bucket, where, and as whom. */
export interface S3Location {
  bucket: string;
  /** Of the keys; empty, or ends in a slash. */
  prefix: string;
  /** Absent: as the AWS SDK finds it (AWS_REGION, the profile). */
  region: string | undefined;
  /** Absent: Amazon's own. */
  endpoint: string | undefined;
  /** Whether the bucket is a part of the path, and not of the host's name. */
  pathStyle: boolean;
  /** Absent: as the AWS SDK finds them (AWS_ACCESS_KEY_ID, a web identity, the machine's role …). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
/** Servers that are not Amazon's rarely care, but the signature needs one. */
const ANY_REGION = 'us-east-1';

/**
 * Reads `s3://[key:secret@]bucket[/prefix][?region=…&endpoint=https://…&pathStyle=true|false]`.
 * With an endpoint, the bucket is a part of the path unless told otherwise. Undefined when the text is something else.
 */
export function parseS3Url(text: string): S3Location | undefined {
  if (!URL.canParse(text)) return undefined;
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
