import { jest } from '@jest/globals';

it('leaves to Jest what Jest takes back', () => {
  jest.useFakeTimers();
  jest.spyOn(Math, 'random').mockReturnValue(0);
  expect(Date.now()).toBe(Date.now());
});
