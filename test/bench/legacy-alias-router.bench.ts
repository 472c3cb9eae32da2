// What resolving old names costs, their notices included, against one match of @koa/router over 60 routes: at most 0.2 of it for a current
// path, 0.5 for an old one, and the same with 1,000 rows as with 3.
import { createAliases, type AliasTable } from '@gatewright/legacy-alias-router'
import { Router } from '@koa/router'
import { extent } from './extent.ts'
import { compare } from './harness.ts'

const RESOURCES = [
  'keys',
  'sessions',
  'cards',
  'folders',
  'deposits',
  'withdrawals',
  'payments',
  'bills',
  'contracts',
  'users',
]
const router = new Router({ strict: true, sensitive: true })
for (const name of RESOURCES) {
  const path = `/user/v1/${name}`
  for (const method of ['GET', 'POST']) router.register(path, [method], () => {})
  for (const method of ['GET', 'PATCH', 'DELETE']) router.register(`${path}/:id`, [method], () => {})
  router.register(`${path}/:id/history`, ['GET'], () => {})
}
if (router.stack.length !== 60) throw new Error(`${router.stack.length} routes, 60 wanted`)

const deprecated = { deprecatedSince: Date.UTC(2026, 0, 1) }
const table: AliasTable = {
  prefixes: [
    { from: '/consumer/v1', to: '/user/v1', mode: deprecated },
    { from: '/identity/consumer-api-keys', to: '/identity/user-api-keys', mode: deprecated },
  ],
  headers: [{ from: 'x-consumer-key', to: 'x-user-key', mode: deprecated }],
}
const OPERATIONS = extent(300_000, 20)
const rows = Array.from({ length: 500 }, (_, index) => index)
const large: AliasTable = {
  ...table,
  prefixes: [
    ...(table.prefixes ?? []),
    ...rows.map(index => ({
      from: `/consumer/v0/part${index}`,
      to: `/user/v1/part${index}`,
      mode: deprecated,
    })),
  ],
  paths: rows.map(index => ({
    from: `/user/v0/page${index}`,
    to: `/user/v1/pages/${index}`,
    mode: deprecated,
  })),
}
const few = createAliases(table)
const many = createAliases(large)

const headers: Record<string, string> = {
  host: 'api.example.com',
  authorization: 'Bearer token',
  'content-type': 'application/json',
  accept: '*/*',
  'user-agent': 'bench',
}
const header = (name: string): string | undefined => headers[name]
/** Paths of a request each time new, as a server gets them: a string that is used again has its hash cached. */
const paths = (prefix: string): string[] =>
  Array.from({ length: OPERATIONS }, (_, index) =>
    Buffer.from(`${prefix}/${RESOURCES[index % 10]}/id_${index}`).toString(),
  )

for (const [name, prefix, share] of [
  ['a current path', '/user/v1', 0.2],
  ['an old path', '/consumer/v1', 0.5],
] as const) {
  let targets: string[] = []
  const before = (): void => {
    targets = paths(prefix)
  }
  const at = (index: number): string => targets[index] as string
  const resolving = (aliases: typeof few) => (index: number) => aliases.resolve({ path: at(index), header })
  const currents = paths('/user/v1')
  before()
  for (const aliases of [few, many]) {
    const verdict = aliases.resolve({ path: at(0), header })
    if (!verdict.ok || verdict.value.path !== currents[0]) throw new Error(`${at(0)} is resolved wrongly`)
    if (router.match(verdict.value.path, 'GET').pathAndMethod.length === 0)
      throw new Error('no route matches')
  }
  const match = {
    name: 'one match of @koa/router',
    run: (index: number) => router.match(currents[index] as string, 'GET'),
  }
  await compare(`legacy-alias-router: resolve ${name}, 3 rows`, {
    ours: { name: 'resolve', before, run: resolving(few) },
    peers: [{ ...match, minRatio: 1 / share }],
    operations: OPERATIONS,
    rounds: 4,
  })
  await compare(`legacy-alias-router: resolve ${name}, 1,003 rows`, {
    ours: { name: 'resolve, 1,003 rows', before, run: resolving(many) },
    peers: [
      { ...match, minRatio: 1 / share },
      { name: 'resolve, 3 rows', before, run: resolving(few) },
    ],
    operations: OPERATIONS,
    rounds: 4,
  })
}
