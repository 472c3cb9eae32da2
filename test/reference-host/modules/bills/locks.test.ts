import t from 'tap'
import { openAtOnce } from '../../harness/at-once.ts'
import * as internals from '../../../harness/internals.ts'

const { services, addAccount, run, runTwo } = await openAtOnce(t)
const operation = (id: string) => (of: typeof services) =>
  internals.billOperations(of).find(each => each.id === id)!
const create = operation('bills.create')
const body = { payee: 'City Power', amountCents: 400, dueAt: '2026-01-31' }

t.test('two bills noted at once do not exceed the most open ones', async t => {
  const accountId = await addAccount()
  for (let n = 0; n < 99; n += 1) await run(create(services), accountId, { body })
  const [first, later] = await runTwo(create, accountId, { body })
  t.match(first, { data: {} })
  t.match(later, { code: 'policy_blocked', details: { rule: 'max_bills' } })
})

t.test('a bill is paid once by two requests at once', async t => {
  const accountId = await addAccount(1000)
  const { id } = (await run(create(services), accountId, { body })).data!['bill']
  const [first, later] = await runTwo(operation('bills.pay'), accountId, { params: { billId: id } })
  t.match(first, { data: { bill: { status: 'paid' } } })
  t.match(later, { code: 'invalid_request', field: 'status' })
})
