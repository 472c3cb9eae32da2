// The client over the storage of a Durable Object, under the suites, in workerd.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../harness/services.ts'
import { serving } from '../../harness/serving.ts'
import { bundle } from './bundle.ts'
import { BINARIES } from './start.ts'

const DIRECTORY = 'build/runtimes'
const SUITES = ['client', 'idempotency', 'spends'] as const

const PROGRAM = `
import { DurableObject } from 'cloudflare:workers'
import { migrateIdempotency, sqliteIdempotency } from '@gatewright/idempotency-store/sqlite'
import { idempotencyStorageContract } from '@gatewright/idempotency-store/testing'
import { fromDurableObject } from '@gatewright/kernel/sql'
import { collectTests, sqlClientContract } from '@gatewright/kernel/testing'
import { migrateSpends, sqliteSpends } from '@gatewright/scope-guard/sqlite'
import { spendStorageContract } from '@gatewright/scope-guard/testing'

export class Store extends DurableObject {
  db = fromDurableObject(this.ctx.storage)
  open = async storage => ({ connections: [storage(this.db)], close: async () => {} })
  suites = {
    client: runner => sqlClientContract(runner, 'workerd', () => this.open(db => db)),
    idempotency: runner => idempotencyStorageContract(runner, 'workerd', () => this.open(sqliteIdempotency)),
    spends: runner => spendStorageContract(runner, 'workerd', () => this.open(sqliteSpends)),
  }
  async fetch(request) {
    await migrateIdempotency(this.db)
    await migrateSpends(this.db)
    const tests = collectTests(this.suites[new URL(request.url).pathname.slice(1)])
    const failed = []
    for (const { name, run } of tests) await run().catch(error => failed.push(name + ': ' + error.stack))
    return Response.json({ tests: tests.length, failed })
  }
}
export default {
  fetch: (request, { STORE }) =>
    request.url.endsWith('/none')
      ? new Response()
      : STORE.get(STORE.idFromName(new URL(request.url).pathname)).fetch(request),
}`

/** Only objects on a disk have SQLite. */
const capnp = (port: number, disk: string): string => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "app.js", esModule = embed "durable-object.js")],
      compatibilityDate = "2026-11-01",
      durableObjectNamespaces = [(className = "Store", uniqueKey = "store", enableSql = true)],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "STORE", durableObjectNamespace = "Store")]
    )),
    (name = "disk", disk = (path = "${disk}", writable = true))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`

const port = await freePort()
mkdirSync(DIRECTORY, { recursive: true })
writeFileSync(join(DIRECTORY, 'durable-object.js'), (await bundle('workerd', PROGRAM)).text)
const config = join(DIRECTORY, 'durable-object.capnp')
const disk = mkdtempSync(join(tmpdir(), 'gatewright-object-'))
writeFileSync(config, capnp(port, disk))
const child = spawn(BINARIES.workerd, ['serve', config], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
t.teardown(() => {
  child.kill('SIGKILL')
  rmSync(disk, { recursive: true, force: true })
})
await serving(`http://127.0.0.1:${port}/none`, child)

/** How many tests of each suite run at least: fewer would not be the suite. */
const LEAST = { client: 15, idempotency: 25, spends: 15 } as const

for (const suite of SUITES)
  t.test(`${suite}: sqlClientContract, idempotencyStorageContract and spendStorageContract pass`, async t => {
    const response = await fetch(`http://127.0.0.1:${port}/${suite}`)
    const { tests, failed } = (await response.json()) as { tests: number; failed: string[] }
    t.ok(tests >= LEAST[suite], `${tests} tests`)
    t.same(failed, [])
  })
