import { readFileParameter } from './queries.ts';

describe('the file of a restore', () => {
  it.each([
    ['/x?file=a.tar.gz', 'a.tar.gz'],
    ['/x?file=a+b%20c.tar.gz&other=1', 'a b c.tar.gz'],
    ['/x?file=..%2f..%2fetc%2fpasswd', '../../etc/passwd'],
    ['/x?file=%252e%252e', '%2e%2e'],
  ])('%s names %s', (url, file) => expect(readFileParameter(url)).toBe(file));

  it.each([
    ['/x', 400],
    ['/x?file', 400],
    ['/x?file=', 400],
    ['/x?file[]=a', 400],
    ['/x?file=a&file=b', 400],
    ['/x?file=%ff', 404],
    ['/x?file=%', 404],
  ])('%s is refused with %i', (url, httpStatus) =>
    expect(() => readFileParameter(url)).toThrow(expect.objectContaining({ httpStatus })),
  );
});
