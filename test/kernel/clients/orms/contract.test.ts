import { sqlClientContract } from '@gatewright/kernel/testing'
import t from 'tap'
import { openOrm, ORM_NAMES, type OpenedOrm } from '../../../harness/databases/orms.ts'
import { sampleOf } from '../../../harness/random-cases.ts'
import { runner } from '../../../harness/runner.ts'

const names = sampleOf(ORM_NAMES)
const opened = new Map<string, OpenedOrm>()
t.before(async () => {
  for (const name of names) opened.set(name, await openOrm(name, 2, 2))
})
t.teardown(async () => {
  for (const orm of opened.values()) await orm.close()
})

for (const name of names)
  sqlClientContract(runner, name, async () => ({
    connections: opened.get(name)?.connections ?? [],
    close: async () => {},
  }))
