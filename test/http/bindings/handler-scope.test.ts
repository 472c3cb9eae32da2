import t from 'tap'
import { runNode } from '../../harness/node.ts'

/** Runtimes as they look before the bindings are loaded, and whether a write on fetch can be followed there. */
const RUNTIMES: Readonly<Record<string, string>> = {
  'has a getBuiltinModule that throws, as the Edge runtime of Next has':
    "process.getBuiltinModule = () => { throw new Error('not supported') }",
  'has an AsyncLocalStorage that cannot be made':
    "globalThis.AsyncLocalStorage = class { constructor() { throw new Error('not supported') } }",
}

/** A write of Hono, whose handlers are followed where that is possible. */
const WRITE = `
const { Hono } = await import('hono')
const { gatewright } = await import('gatewright/hono')
const { createWorld } = await import('./build/test/gatewright/world.js')
const { options, token } = createWorld()
const app = new Hono()
app.post('/', gatewright({ ...options, policy: 'none', peer: 'none' }).protectWrite('payments.create', { scope: 'payments.write' }), c => c.json({ paid: true }, 201))
const headers = { authorization: 'Bearer ' + await token('payments.write'), 'content-type': 'application/json', 'idempotency-key': 'key-00000001' }
for (const n of [1, 2]) console.log((await app.request('/', { method: 'POST', body: '{}', headers })).status)
process.exit()`

for (const [name, before] of Object.entries(RUNTIMES))
  t.test(`a write works on a runtime that ${name}`, async t => {
    const { code, output } = await runNode(['--input-type=module', '-e', before + WRITE])
    t.equal(code, 0)
    t.equal(output.trim(), '201\n201')
  })
