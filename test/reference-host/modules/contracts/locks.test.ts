import t from 'tap'
import { openAtOnce } from '../../harness/at-once.ts'
import * as internals from '../../../harness/internals.ts'

const { services, addAccount, run, runTwo } = await openAtOnce(t)
const create = (of: typeof services) =>
  internals.contractOperations(of).find(({ id }) => id === 'contracts.create')!

t.test('two contracts made at once do not exceed the most of an account', async t => {
  const accountId = await addAccount()
  for (let n = 0; n < 19; n += 1) await run(create(services), accountId)
  const [first, later] = await runTwo(create, accountId)
  t.match(first, { data: {} })
  t.match(later, { code: 'policy_blocked', details: { rule: 'max_contracts' } })
})
