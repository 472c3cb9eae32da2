import { memoryFeed } from '@gatewright/kernel'
import { memoryStorage } from '@gatewright/session-issuer/memory'
import { keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import { runner } from '../../harness/runner.ts'

keyStorageContract(runner, 'memory', async () => ({
  connections: [memoryStorage({ feed: memoryFeed() }).keys],
  close: async () => {},
}))

sessionStorageContract(runner, 'memory', async () => ({
  connections: [memoryStorage({ feed: memoryFeed() }).sessions],
  close: async () => {},
}))
