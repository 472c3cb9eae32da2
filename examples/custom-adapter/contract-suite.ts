import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { nonceStorageContract } from '@gatewright/signature-verifier/testing'
import { journalStorage } from './journal-storage.ts'

const runner = {
  describe: (name: string, define: () => void) => void describe(name, define),
  it: (name: string, run: () => Promise<void>) => void it(name, run),
}

nonceStorageContract(runner, 'a journal file', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'journal-'))
  const storage = await journalStorage(join(directory, 'nonces'))
  return {
    connections: [storage],
    close: async () => {
      await storage.close()
      await rm(directory, { recursive: true })
    },
  }
})
