import { aliasReport, legacyPage, reportText, type AliasTable } from '@gatewright/legacy-alias-router'
import { memoryAliasUsage } from '@gatewright/legacy-alias-router/memory'
import t from 'tap'

const since = Date.UTC(2026, 0, 1)
const table: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode: { deprecatedSince: since, sunset: Date.UTC(2026, 6, 1) } },
    { from: '/old', to: '/new', mode: 'gone' },
  ],
  scopes: [
    { surface: 'user', from: 'swaps.read', to: null, mode: { deprecatedSince: since, link: '/docs' } },
  ],
  schemes: [{ from: 'Old', to: 'New', mode: 'serve' }],
}
const day = (day: number): number => Date.UTC(2026, 0, day)
async function usage() {
  const storage = memoryAliasUsage()
  const rows = [
    { alias: 'prefix:/consumer/v1', caller: 'key_1', count: 3, firstSeen: day(2), lastSeen: day(3) },
    { alias: 'prefix:/consumer/v1', caller: 'key_2', count: 4, firstSeen: day(2), lastSeen: day(9) },
    { alias: 'prefix:/dropped', caller: 'key_1', count: 1, firstSeen: day(1), lastSeen: day(1) },
  ]
  await storage.add({ writer: 'w', sequence: 1, rows }, day(9))
  return storage
}

t.test('reports every old name with its users, the latest user first, as plain JSON', async t => {
  const report = await aliasReport(await usage(), table, day(20))
  t.same(JSON.parse(JSON.stringify(report)), report)
  t.equal(report.at, '2026-01-20T00:00:00.000Z')
  t.same(
    report.aliases.map(({ id, mode, count }) => [id, mode, count]),
    [
      ['prefix:/consumer/v1', 'deprecated', 7],
      ['prefix:/old', 'gone', 0],
      ['scope:user:swaps.read', 'deprecated', 0],
      ['scheme:Old', 'serve', 0],
      ['prefix:/dropped', 'unlisted', 1],
    ],
  )
  t.same(
    report.aliases.filter(({ observable }) => !observable).map(({ id }) => id),
    ['scheme:Old'],
    'nobody can see whether a client reads these names',
  )
  t.match(report.aliases[0], {
    from: '/consumer/v1',
    to: '/user/v1',
    due: false,
    sunset: '2026-07-01T00:00:00.000Z',
    lastSeen: '2026-01-09T00:00:00.000Z',
    users: [
      { principal: 'key_2', count: 4 },
      { principal: 'key_1', count: 3, firstSeen: '2026-01-02T00:00:00.000Z' },
    ],
  })
})

t.test('reads all pages of a large store', async t => {
  const storage = memoryAliasUsage()
  for (let batch = 0; batch < 5; batch++) {
    const rows = Array.from({ length: 500 }, (_, index) => ({
      alias: 'prefix:/old',
      caller: `key_${batch}_${index}`,
      count: 2,
      firstSeen: since,
      lastSeen: since,
    }))
    await storage.add({ writer: `w${batch}`, sequence: 1, rows }, since)
  }
  const { aliases } = await aliasReport(storage, table, since)
  t.match(aliases[1], { id: 'prefix:/old', count: 5000 })
  t.equal(aliases[1]?.users.length, 2500)
})

t.test('formats the report as a table, and marks names past their sunset', async t => {
  const text = reportText(await aliasReport(await usage(), table, Date.UTC(2026, 6, 1)))
  t.equal(
    text,
    `Old names and who uses them, 2026-07-01T00:00:00.000Z

old name               mode             sunset      used by    calls  first       last
prefix:/consumer/v1    past its sunset  2026-07-01  key_2      4      2026-01-02  2026-01-09
prefix:/consumer/v1    past its sunset  2026-07-01  key_1      3      2026-01-02  2026-01-03
prefix:/old            gone             -           -          0      -           -
scope:user:swaps.read  deprecated       -           -          0      -           -
scheme:Old             serve            -           not known  -      -           -
prefix:/dropped        unlisted         -           key_1      1      2026-01-01  2026-01-01
`,
  )
})

t.test('writes the table as a page for clients', async t => {
  const page = legacyPage(table)
  t.match(page, /^# Old names\n/)
  t.ok(page.includes('| `/consumer/v1` | `/user/v1` | all | deprecated since 2026-01-01, until 2026-07-01 |'))
  t.ok(page.includes('| `/old` | `/new` | all | gone (410) |'))
  t.ok(
    page.includes(
      '| `swaps.read` | none: accepted, grants nothing | `user` | deprecated since 2026-01-01, [more](/docs) |',
    ),
  )
  t.notOk(page.includes('## Request headers'), 'a kind without rows has no heading')
})
