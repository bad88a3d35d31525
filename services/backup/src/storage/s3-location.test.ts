import { parseS3Url } from './s3-location.ts';

describe('parsing the URL of a bucket', () => {
  it('accepts a bucket of Amazon with settings from the environment', () => {
    expect(parseS3Url('s3://archives')).toEqual({
      bucket: 'archives',
      prefix: '',
      region: undefined,
      endpoint: undefined,
      pathStyle: false,
      credentials: undefined,
    });
    expect(parseS3Url('s3://archives/our/product/?region=eu-west-1')).toMatchObject({
      prefix: 'our/product/',
      region: 'eu-west-1',
    });
  });

  it('rejects a secret that cannot be decoded', () => {
    expect(parseS3Url('s3://me:100%sure@archives')).toBeUndefined();
  });

  it('accepts another server, with credentials in the URL', () => {
    expect(parseS3Url('s3://me:a%2Fb@archives?endpoint=http://127.0.0.1:9000')).toEqual({
      bucket: 'archives',
      prefix: '',
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9000',
      pathStyle: true,
      credentials: { accessKeyId: 'me', secretAccessKey: 'a/b' },
    });
    expect(parseS3Url('s3://archives?endpoint=https://s3.example.com&pathStyle=false')?.pathStyle).toBe(false);
  });

  it.each([
    ...['', 'archives', 'https://archives', 's3://', 's3://UPPER_case', 's3://a', 's3://archives:9000', 's3://me@archives'],
    ...['s3://archives?endpoint=nowhere', 's3://archives?endpont=http://x', 's3://archives?pathStyle=yes', 's3://archives#x'],
  ])('rejects %j', (text) => {
    expect(parseS3Url(text)).toBeUndefined();
  }); // prettier-ignore
});
