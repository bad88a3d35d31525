import { restoreNames } from './names.ts';

const names = ({ fresh, old, loader }: ReturnType<typeof restoreNames>) => [fresh, old, loader];

describe('the names of what a restore makes', () => {
  it('differ for stores whose names begin alike', () => {
    const stem = 'a_name_of_a_store_that_is_rather_long';
    const made = [`${stem}_tasks`, `${stem}_auth`, 'a b', 'a_b'].flatMap((live) => names(restoreNames(live, 'abc')));
    expect(new Set(made).size).toBe(12);
  });

  it('are as long as PostgreSQL takes them, and of plain characters', () => {
    for (const name of names(restoreNames('ä'.repeat(31), 'x'.repeat(16)))) expect(name).toMatch(/^\w{1,63}$/);
  });
});
