// Servers are often deployed as one ESM file. A library in CommonJS that calls require for a builtin of Node fails in it, at run time.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { openPostgresPool, uniqueName } from '../harness/stores.ts'
import { entriesOf } from '../workspace/tree.ts'

mkdirSync('build/esm-bundles', { recursive: true })
const directory = mkdtempSync('build/esm-bundles/')
t.teardown(() => rmSync(directory, { recursive: true, force: true }))

/** Bundles programs to ESM without a banner that adds `require`. Clients and frameworks stay outside, as the application chooses them. */
async function bundle(programs: Readonly<Record<string, string>>): Promise<(name: string) => string> {
  const entryPoints = Object.entries(programs).map(([name, program]) => {
    const file = join(directory, `${name}.source.mjs`)
    writeFileSync(file, program)
    return { in: file, out: name }
  })
  await build({
    entryPoints,
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['pg', '@nestjs/common', '@nestjs/core'],
    logLevel: 'silent',
  })
  return name => join(directory, `${name}.mjs`)
}

/** Pays once through a listener of `node:http`, and repeats it. Prints the statuses, and whether the second is a replay. */
const server = (entry: string, imports: string, store: string): string => `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { gatewright } from '${entry}'
import { testGateway, testSession } from 'gatewright/testing'
${imports}
const store = ${store}
await store.migrate()
const options = { issuer: 'https://auth.example', audience: 'https://api.example', policy: { dailySpendCapCents: 1000 } }
const test = testGateway(options, { store })
const gw = gatewright(test.options)
const spends = body => ({ amountCents: body.amountCents, currency: 'USD' })
const listener = gw.write('payments.create', { scope: 'payments.write', spends }, ({ effectId }) => ({ status: 201, body: { id: effectId } }))
const server = createServer(listener).listen(0, '127.0.0.1')
await once(server, 'listening')
const headers = {
  authorization: 'Bearer ' + (await test.token(testSession({ scopes: ['payments.write'] }))),
  'content-type': 'application/json',
  'idempotency-key': 'the-same-key',
}
for (let n = 0; n < 2; n++) {
  const url = 'http://127.0.0.1:' + server.address().port
  const response = await fetch(url, { method: 'POST', headers, body: '{"amountCents":600}' })
  console.log(response.status, response.headers.get('idempotency-replayed'))
}
process.exit()`

const MEMORY = [
  "import { memoryStore } from 'gatewright/memory'",
  'memoryStore({ perProcess: true })',
] as const
const POSTGRES = [
  "import pg from 'pg'\nimport { postgresStore } from 'gatewright/postgres'",
  'postgresStore(new pg.Pool({ connectionString: process.env.TEST_POSTGRES_URL, options: process.env.PG_OPTIONS }))',
] as const
const SERVERS = {
  node: server('gatewright/node', ...MEMORY),
  express: server('gatewright/express', ...MEMORY),
  postgres: server('gatewright/node', ...POSTGRES),
}

t.test('a server that is one file of ESM pays once', async t => {
  const schema = uniqueName()
  const pool = await openPostgresPool(schema, 1)
  t.teardown(async () => {
    await pool.query(`drop schema ${schema} cascade`)
    await pool.end()
  })
  const fileOf = await bundle(SERVERS)
  for (const name of Object.keys(SERVERS)) {
    const { code, output } = await runNode([fileOf(name)], {
      ...process.env,
      PG_OPTIONS: `-c search_path=${schema}`,
    })
    t.same([code, output], [0, '201 null\n201 true\n'], name)
  }
})

t.test('every entry loads from one file of ESM', async t => {
  const entries = entriesOf('gatewright')
  t.ok(entries.length > 10)
  const programs = Object.fromEntries(
    entries.map(entry => [entry.replace('/', '-'), `export * from '${entry}'`]),
  )
  const fileOf = await bundle(programs)
  const imports = Object.keys(programs).map(name => `await import('${join(process.cwd(), fileOf(name))}')`)
  const all = join(directory, 'all.mjs')
  writeFileSync(all, imports.join('\n'))
  t.same(await runNode([all]), { code: 0, output: '' })
})

t.test('the bundle for require asks only for dependencies of its own package', t => {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync('packages/gatewright/package.json', 'utf8'),
  ) as Record<'dependencies' | 'peerDependencies', Record<string, string>>
  const own = Object.keys({ ...dependencies, ...peerDependencies })
  const bundle = readFileSync('packages/gatewright/dist/require/all.cjs', 'utf8')
  const asked = [...bundle.matchAll(/\brequire\("((?:@[^/"]+\/)?[^/"]+)/g)].map(([, name]) => name as string)
  // Another version of what others depend on may lie beside the package, as ipaddr.js of express does.
  t.same(
    asked.filter(name => !own.includes(name) && !name.startsWith('node:')),
    [],
  )
  t.ok(asked.length > 5)
  t.end()
})
