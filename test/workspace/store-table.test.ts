// The table of stores, ports and suites in docs/orms.md.
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'

const PAGE = readFileSync('docs/orms.md', 'utf8')

/** What a file of a column must have. */
const COLUMNS: Readonly<Record<string, RegExp>> = {
  Statements: /sqlClientContract/,
  Idempotency: /idempotencyStorageContract/,
  Spends: /spendStorageContract/,
  'One of 30': /one of 30/,
}

/** The rows of the table, by column. */
const [head = [], , ...body] = PAGE.slice(PAGE.indexOf('| Client | Driver or ORM |'))
  .split('\n\n')[0]!
  .split('\n')
  .map(line =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim()),
  )
const rows = body.map(cells => Object.fromEntries(cells.map((cell, at) => [head[at] ?? '', cell])))

t.test('names a test file for each suite, which has that suite', async t => {
  const links = new Map(
    [...PAGE.matchAll(/^\[([\w-]+)\]: \.\.\/(\S+)$/gm)].map(([, name, file]) => [name, file]),
  )
  t.ok(rows.length > 10)
  for (const row of rows)
    for (const [column, suite] of Object.entries(COLUMNS)) {
      const cell = row[column]
      if (cell === '-') continue
      const file = links.get(/^\[yes\]\[([\w-]+)\]$/.exec(cell ?? '')?.[1])
      const text = file !== undefined && existsSync(file) ? readFileSync(resolve(file), 'utf8') : ''
      t.match(text, suite, `${row['Client']} with ${row['Driver or ORM']} on ${row['Store']}: ${column}`)
    }
})

t.test('names the versions that are installed', async t => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>
  }
  for (const row of rows)
    for (const [, name = '', version] of row['Driver or ORM']!.matchAll(/([@\w/-]+) (\d+\.\d+)/g))
      t.match(devDependencies[name], new RegExp(`^${version}\\.`), `${name} ${version}`)
})

t.test('has a row for each function that makes a client', async t => {
  const exported = JSON.parse(readFileSync('test/workspace/exports.json', 'utf8')) as Record<
    string,
    { readonly values: readonly string[] }
  >
  const makers = ['sql', 'orms', 'redis']
    .flatMap(name => exported[`@gatewright/kernel/${name}`]?.values ?? [])
    .filter(name => name.startsWith('from') && name !== 'fromTransaction')
  const clients = new Set(
    rows.flatMap(row => row['Client']!.split(', ')).filter(client => !client.startsWith('[recipe]')),
  )
  t.same([...clients].map(client => client.replaceAll('`', '')).sort(), makers.sort())
})
