// The operations of contracts, called without a host around them.
import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { openMoney, withoutVarying, type OperationResult } from '../../harness/money-operations.ts'
import { uniqueName } from '../../../harness/stores.ts'

const { db, ledger, services, addAccount, run } = await openMoney(t)
const all = internals.contractOperations(services)
const [list, create] = ['contracts.list', 'contracts.create'].map(
  id => all.find(each => each.id === id)!,
) as [(typeof all)[0], (typeof all)[0]]
const move = internals.transferDeposit(services)
const contractOf = ({ data }: OperationResult) =>
  data!['contract'] as Record<string, unknown> & { id: string }
const make = async (accountId: string, body: object = {}) =>
  contractOf(await run(create, accountId, { body }))
const put = (accountId: string, toContractId: string, amountCents: number): Promise<OperationResult> =>
  run(move, accountId, { body: { amountCents, fromContractId: null, toContractId } })
const listed = async (accountId: string, query = '') => (await run(list, accountId, { query })).data!

t.test('responds as its examples say', async t => {
  const accountId = await addAccount(10_000)
  const made = await run(create, accountId, { body: create.example.body })
  t.same(withoutVarying(made.data), withoutVarying(create.example.response))
  await put(accountId, contractOf(made).id, 5000)
  t.same(withoutVarying(await listed(accountId)), withoutVarying(list.example.response))
})

t.test('a repeated request returns the contract with what is in it now', async t => {
  const accountId = await addAccount(1000)
  const effectId = uniqueName()
  const request = { effectId, body: { label: 'Rent' } }
  const made = contractOf(await run(create, accountId, request))
  t.match(made, { id: `ctr_${effectId}`, label: 'Rent', balanceCents: 0 })
  await put(accountId, made.id, 300)
  t.same(contractOf(await run(create, accountId, request)), { ...made, balanceCents: 300 })
  t.match(await make(accountId), { label: null })
})

t.test('lists the contracts of the account, newest first, with their balances', async t => {
  const accountId = await addAccount(1000)
  const other = await addAccount(1000)
  await put(other, (await make(other)).id, 7)
  const contracts: { id: string }[] = []
  for (const cents of [100, 200, 300]) {
    const made = await make(accountId)
    await put(accountId, made.id, cents)
    contracts.unshift({ ...made, balanceCents: cents } as { id: string })
  }
  await ledger.fold(10, error => {
    throw error
  })
  await put(accountId, contracts[0]!.id, 5)
  Object.assign(contracts[0]!, { balanceCents: 305 })
  const first = await listed(accountId, 'limit=2')
  t.same(first['contracts'], contracts.slice(0, 2))
  t.same(await listed(accountId, `limit=2&cursor=${first['nextCursor']}`), {
    contracts: contracts.slice(2),
    nextCursor: null,
  })
})

t.test('an account has at most 20 contracts', async t => {
  const accountId = await addAccount()
  const effectId = uniqueName()
  await run(create, accountId, { effectId })
  for (let n = 1; n < 20; n += 1) await make(accountId)
  t.match(await run(create, accountId), { code: 'policy_blocked', details: { rule: 'max_contracts' } })
  t.match(await run(create, accountId, { effectId }), { data: {} }, 'one that exists')
  t.match(await make(await addAccount()), { balanceCents: 0 })
})

t.test('takes labels of 1 to 80 characters', async t => {
  const problem = internals.compileSchema(create.body!)
  const lengths = [0, 1, 80, 81].map(length => problem({ label: 'x'.repeat(length) }) === undefined)
  t.same(lengths, [false, true, true, false])
})

t.test('stores a contract once', async t => {
  const { contracts } = internals
  const contract = { id: uniqueName(), accountId: await addAccount(), label: 'Rent', createdAt: 5 }
  const stored = await contracts.insert(db, contract)
  t.match(stored, contract)
  t.equal(await contracts.insert(db, { ...contract, label: 'Other' }), undefined)
  t.same(await contracts.find(db, contract.accountId, contract.id), stored)
  t.equal((await rows(db, 'select id from gw_contracts where id = $1', [contract.id])).length, 1)
})
