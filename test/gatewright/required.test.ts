// The entries for require where ES modules cannot be required, as in jest: bundles, of which a process has a second copy if other code imports.
import { createRequire } from 'node:module'
import { existsSync, readFileSync } from 'node:fs'
import express from 'express'
import * as imported from 'gatewright/express'
import { memoryStore } from 'gatewright/memory'
import { Fault } from '@gatewright/kernel'
import t from 'tap'
import { runNode } from '../harness/node.ts'
import { entriesOf, manifest } from '../workspace/tree.ts'
import { createWorld, listening } from './world.ts'

const require = createRequire(import.meta.url)
const FOLDER = `${process.cwd()}/packages/gatewright/dist/require`
const required = require(`${FOLDER}/express.cjs`) as typeof imported
const entries = Object.entries(manifest('gatewright').exports ?? {}).flatMap(([name, target]) =>
  typeof target === 'object' ? [[name, target] as const] : [],
)

t.test('every entry has a bundle with the same names', async t => {
  t.equal(entries.length, entriesOf('gatewright').length)
  for (const [name, { default: file, require: bundle }] of entries) {
    const one = (await import(`${process.cwd()}/packages/gatewright/${file}`)) as object
    const other = require(`${process.cwd()}/packages/gatewright/${bundle}`) as object
    t.same(Object.keys(other).toSorted(), Object.keys(one).toSorted(), name)
  }
})

t.test('Node requires the modules that it imports, so that a process of Node has one copy', async t => {
  const program = entriesOf('gatewright').map(
    entry => `if (require('${entry}') !== await import('${entry}')) throw new Error('${entry}')`,
  )
  const script = `(async () => {${program.join('\n')}})()`
  t.same(await runNode(['--no-warnings', '-e', script]), { code: 0, output: '' })
})

t.test('requires without ES modules, and contains the license of what it bundles', async t => {
  const program = entriesOf('gatewright').map(entry => `require('${entry}')`)
  const args = ['--no-experimental-require-module', '-e', program.join('\n')]
  t.same(await runNode(args), { code: 0, output: '' })
  const text = readFileSync(`${FOLDER}/all.cjs`, 'utf8')
  for (const name of ['content-type', 'ipaddr.js', 'jose'])
    t.match(text, new RegExp(`^/\\*! Contains ${name} \\d+\\.\\d+\\.\\d+\\.\\n`, 'm'))
  t.equal(text.match(/Permission is hereby granted|Blue Oak/g)?.length, 3, 'each with its license')
  t.notOk(existsSync(`${FOLDER}/all.cjs.map`))
})

t.test('two copies in a process share what a request and an error carry', async t => {
  const world = createWorld()
  const gw = required.gatewright({ ...world.options, body: 'kept' } as never)
  const route = { scope: 'payments.write' } as const
  const guarded = imported.gatewright(world.options).protectWrite('other.create', route)
  t.throws(
    () => gw.write('mounted.create', route, guarded as never),
    /the handler is guarded already, as other\.create/,
  )
  const app = express().use(express.json({ verify: imported.keepRawBody }))
  app.post(
    '/payments',
    gw.write('payments.create', route, () => ({ status: 201, body: {} })),
  )
  const broken = { ...memoryStore(), idempotency: { ...memoryStore().idempotency, begin: down } }
  const failing = required.gatewright({
    ...world.options,
    store: broken,
    body: 'kept',
    gate: { report() {} },
  } as never)
  app.post(
    '/failing',
    failing.write('failing.create', route, () => ({ status: 201 })),
  )
  const server = await listening(app.listen(0, '127.0.0.1'))
  t.teardown(() => server.close())
  const headers = {
    authorization: `Bearer ${await world.token('payments.write')}`,
    'content-type': 'application/json',
    'idempotency-key': 'the-same-key',
  }
  const post = async (path: string): Promise<number> =>
    (await fetch(server.url + path, { method: 'POST', headers, body: '{"a":1}' })).status
  t.equal(await post('/payments'), 201, 'the bytes that the imported function kept are found')
  t.equal(await post('/failing'), 503, 'a fault of the imported class is a fault')
  for (const value of [undefined, null, 7, 'text', {}, new Error('other')])
    t.notOk((value as object) instanceof Fault)
})

async function down(): Promise<never> {
  throw new Fault('ERR_STORE_UNAVAILABLE', 'down')
}
