import { once } from 'node:events'
import { memoryFeed } from '@gatewright/kernel'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { auditContract, keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import t from 'tap'
import { runner } from '../../harness/runner.ts'
import { collectsExactly } from './collects.ts'

function open() {
  const feed = memoryFeed()
  return {
    ...memoryCredentials({ feed }),
    readFeed: async (positions: readonly number[]) => feed.after(positions, Infinity),
    close: async () => {},
  }
}

keyStorageContract(runner, 'memory', async () => {
  const { keys, ...rest } = open()
  return { connections: [keys], ...rest }
})

sessionStorageContract(runner, 'memory', async () => {
  const { sessions, ...rest } = open()
  return { connections: [sessions], ...rest }
})

auditContract(runner, 'memory', async () => {
  const { close, ...store } = open()
  return { connections: [store], close }
})

collectsExactly(async () => ({ store: memoryCredentials({ feed: memoryFeed() }), close: async () => {} }))

t.test('warns in production that it keeps its state in one process', async t => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  const warned = once(process, 'warning')
  memoryCredentials({ feed: memoryFeed() })
  const [warning] = (await warned) as [Error & { code: string }]
  t.match(warning, { code: 'GATEWRIGHT_MEMORY_STORAGE', message: /^session-issuer keeps its state/ })
})
