// An agent whose connections break, and which calls again in every way: there are as many effects as intents. The slow suite cuts at every byte,
// and has the other stores.
import Database from 'libsql'
import { sqliteStore } from 'gatewright/sqlite'
import t from 'tap'
import { createWorld, type World } from '../world.ts'
import { checkAtOnce, checkCap, checkCuts } from './agent.ts'

const STORES: Readonly<Record<string, () => Promise<World>>> = {
  memory: async () => createWorld(),
  async SQLite() {
    const store = sqliteStore(new Database(':memory:'))
    await store.migrate()
    return createWorld(store)
  },
}

for (const [name, open] of Object.entries(STORES)) {
  const eras = name === 'memory' ? (['modern', 'legacy'] as const) : (['modern'] as const)
  for (const era of eras) {
    t.test(`${name}, ${era}: whatever byte a connection breaks at, each intent has one effect`, async t =>
      checkCuts(t, { world: await open(), era, every: 97 }),
    )
  }
  t.test(
    `${name}: 20 calls of one intent at once, some with new keys and some without, have one effect`,
    async t => checkAtOnce(t, await open()),
  )
  t.test(`${name}: of 250 calls at once by 50 sessions under one cap, exactly those run that fit`, async t =>
    checkCap(t, await open(), 250),
  )
}
