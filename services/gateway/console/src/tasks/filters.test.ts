import { filtersOf, listOf, NO_FILTERS, queryOf, type Filters } from './filters.ts';

const CHOSEN: Filters = { show: 'done', priority: 'HIGH', category: 'house & garden', sort: 'due' };

describe('filters', () => {
  it('survive a round trip through the address', () => {
    expect(filtersOf(new URLSearchParams(queryOf(CHOSEN).toString()))).toEqual(CHOSEN);
    expect(queryOf(NO_FILTERS).toString()).toBe('');
    expect(filtersOf(new URLSearchParams())).toEqual(NO_FILTERS);
  });

  it('ignore unknown values in the address', () => {
    expect(filtersOf(new URLSearchParams('show=x&priority=HUGE&sort=constructor'))).toEqual(NO_FILTERS);
  });

  it('become the filter and the order of a request', () => {
    expect(listOf(CHOSEN)).toMatchObject({
      filter: { completed: true, priority: 'HIGH', category: 'house & garden' },
      orderBy: { field: 'DUE_DATE', direction: 'ASC' },
    });
    expect(listOf({ ...NO_FILTERS, show: 'all' }).filter).toEqual({});
  });
});
