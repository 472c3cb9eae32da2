import { memoryFeed } from '@gatewright/kernel'
import { memoryCredentials } from '@gatewright/session-issuer/memory'
import { auditContract, keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import { runner } from '../../harness/runner.ts'

function open() {
  const feed = memoryFeed()
  return {
    ...memoryCredentials({ feed }),
    readFeed: async (after: number) => feed.after(after, Infinity),
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
