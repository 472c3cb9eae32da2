import { memoryFeed } from '@gatewright/kernel'
import { memoryKeyStorage, memorySessionStorage } from '@gatewright/session-issuer/memory'
import { keyStorageContract, sessionStorageContract } from '@gatewright/session-issuer/testing'
import { runner } from '../../harness/runner.ts'

keyStorageContract(runner, 'memory', async () => ({
  connections: [memoryKeyStorage({ feed: memoryFeed() })],
  close: async () => {},
}))

sessionStorageContract(runner, 'memory', async () => ({
  connections: [memorySessionStorage({ feed: memoryFeed() })],
  close: async () => {},
}))
