import { appendFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { GRACE_MS } from '@gatewright/kernel'
import t from 'tap'
import { journalStorage } from '../../examples/custom-adapter/journal-storage.ts'
import { runNode } from '../harness/node.ts'
import { temporaryFolder } from '../harness/files.ts'

const MINUTE = 60_000

t.test('the contract suite passes as the README runs it', async t => {
  const { code, output } = await runNode([
    '--test',
    '--test-reporter=tap',
    'build/examples/custom-adapter/contract-suite.js',
  ])
  t.equal(code, 0, output)
  t.match(output, /lets one of 50 simultaneous claims win/)
  t.match(output, /# fail 0/)
})

t.test('a claim is remembered across a restart, and collected after its grace', async t => {
  const directory = temporaryFolder(t)
  const path = join(directory, 'nonces')
  const first = await journalStorage(path)
  t.ok(await first.claim('a', MINUTE, 0))
  await first.close()
  const second = await journalStorage(path)
  t.notOk(await second.claim('a', MINUTE, 1))
  t.ok(await second.claim('b', 60 * MINUTE, 1))
  t.equal(await second.collect(10, MINUTE + GRACE_MS), 1)
  await second.close()
  const third = await journalStorage(path)
  t.notOk(await third.claim('b', 60 * MINUTE, MINUTE + GRACE_MS))
  t.ok(await third.claim('a', 60 * MINUTE, MINUTE + GRACE_MS))
  await third.close()
})

t.test('a claim after a line that a crash has cut short is remembered across a restart', async t => {
  const directory = temporaryFolder(t)
  const path = join(directory, 'nonces')
  for (const cut of ['a-key-wit', 'a-key-with-half-of-its-time 60']) {
    appendFileSync(path, cut)
    const first = await journalStorage(path)
    t.ok(await first.claim(cut, MINUTE, 0))
    await first.close()
    const second = await journalStorage(path)
    t.notOk(await second.claim(cut, MINUTE, 1), cut)
    await second.close()
  }
})

t.test('a claim after close is a fault, and counts as a claim, since it may have been written', async t => {
  const directory = temporaryFolder(t)
  const storage = await journalStorage(join(directory, 'nonces'))
  await storage.close()
  await t.rejects(storage.claim('a', MINUTE, 0), { name: 'Fault', code: 'ERR_STORE_UNAVAILABLE' })
  t.notOk(await storage.claim('a', MINUTE, 0))
})

t.test('the adapter of each page under docs/adapters passes the suites of its port', async t => {
  const names = readdirSync('docs/adapters').map(page => page.replace(/\.md$/, ''))
  t.ok(names.length >= 6)
  const imports = names.map(
    name => `await import('${pathToFileURL(`build/examples/custom-adapter/${name}.js`).href}')`,
  )
  const script = [...imports, "console.log('all have passed')"].join('\n')
  const { code, output } = await runNode(['--input-type=module', '-e', script])
  t.match({ code, output }, { code: 0, output: /^all have passed$/m }, output)
})
