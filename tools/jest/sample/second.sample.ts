import { count } from './counter.ts';

it('counts', () => expect(count()).toBe(1));
