import { listCommand } from '@gatewright/host/cli'
import t from 'tap'

interface Services {
  readonly unit: string
}

const list = listCommand({
  name: 'boxes list',
  takes: [],
  summary: 'List boxes',
  example: '',
  rows: async (_: Services, { positional }) => [
    { id: 'a', weight: 0, owner: null, words: [] as string[], note: positional[0] ?? '', at: null },
    { id: 'b', weight: 12, owner: 'x', words: ['one', 'two'], note: '', at: '2026-01-31T12:00:00Z' },
  ],
  columns: {
    BOX: 'id',
    WEIGHT: ({ weight }, { unit }) => `${weight} ${unit}`,
    AMOUNT: 'weight',
    OWNER: 'owner',
    WORDS: 'words',
    SINCE: { value: 'at', kind: 'instant' },
  },
  dropFirst: ['WORDS'],
  empty: 'No boxes.',
  note: (rows, { flags }) => (flags.has('more') ? `${rows.length} of 9` : undefined),
})
const run = (flags: readonly string[], positional: readonly string[] = []) =>
  list.run({ unit: 'kg' }, { positional, options: {}, flags: new Set(flags) })

t.test('prints the columns of each row, with - for nothing, and gives the rows as data', async t => {
  const output = await run([], ['fragile'])
  t.match(output, { data: [{ id: 'a', owner: null, note: 'fragile' }, { id: 'b' }], empty: 'No boxes.' })
  t.same('table' in output && output.table, {
    columns: [
      { head: 'BOX', kind: 'id' },
      { head: 'WEIGHT', kind: 'text' },
      { head: 'AMOUNT', kind: 'text' },
      { head: 'OWNER', kind: 'text' },
      { head: 'WORDS', kind: 'text' },
      { head: 'SINCE', kind: 'instant' },
    ],
    rows: [
      ['a', '0 kg', 0, null, [], null],
      ['b', '12 kg', 12, 'x', ['one', 'two'], '2026-01-31T12:00:00Z'],
    ],
    dropFirst: ['WORDS'],
  })
  t.notOk('note' in output, 'no note')
})

t.test('prints a note below the table if there is one', async t => {
  t.match(await run(['more']), { note: '2 of 9' })
})

t.test('is called as its declaration says', async t => {
  t.match(list, { name: 'boxes list', takes: [], summary: 'List boxes', example: '' })
})
