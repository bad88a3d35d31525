import { constantSql } from './constants.ts';

it('a constant of a dump is rejected if it is a malformed number, because numbers are inserted into SQL unchanged', () => {
  const number = (fval: string) => constantSql({ A_Const: { fval: { fval } } }, () => undefined);
  expect(['0.5', '-1e10', '1_000.0', '0xFFFFFFFFFF'].map(number)).toEqual(['0.5', '-1e10', '1_000.0', '0xFFFFFFFFFF']); // prettier-ignore
  for (const text of ['1; drop table t', '1)', "1'", '1 ', '']) expect(() => number(text)).toThrow('is malformed');
});
