import { parseS3Url } from './s3-location.ts';

const AMAZON = { bucket: 'archives', prefix: '', region: undefined, endpoint: undefined, pathStyle: false, credentials: undefined }; // prettier-ignore
const OWN = { ...AMAZON, region: 'us-east-1', endpoint: 'http://127.0.0.1:9000', pathStyle: true };

it.each([
  ['s3://archives', AMAZON],
  ['s3://archives/our/product/?region=eu-west-1', { ...AMAZON, prefix: 'our/product/', region: 'eu-west-1' }],
  [
    's3://me:a%2Fb@archives?endpoint=http://127.0.0.1:9000',
    { ...OWN, credentials: { accessKeyId: 'me', secretAccessKey: 'a/b' } },
  ],
  ['s3://archives?endpoint=http://127.0.0.1:9000&pathStyle=false', { ...OWN, pathStyle: false }],
])('parsing the URL of a bucket accepts %j', (text, location) => expect(parseS3Url(text)).toEqual(location));

it.each([
  ...['', 'https://archives', 's3://', 's3://UPPER_case', 's3://a', 's3://archives:9000', 's3://me@archives', 's3://me:100%sure@archives'],
  ...['s3://archives?endpoint=nowhere', 's3://archives?endpont=http://x', 's3://archives?pathStyle=yes', 's3://archives#x'],
])('parsing the URL of a bucket rejects %j', (text) => expect(parseS3Url(text)).toBeUndefined()); // prettier-ignore
