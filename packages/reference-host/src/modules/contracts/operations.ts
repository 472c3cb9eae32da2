import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, ledgerWrite, listOperation } from '@gatewright/host'
import { ledgerAccounts } from '@gatewright/host/internal'
import { component, instant, nameText, text, textOrNull } from '@gatewright/host/schemas'
import { deny } from '../../product/denials.ts'
import { lockAccount } from '../users/lock-account.ts'
import * as examples from '../examples.ts'
import { contracts, contractsWithBalances, type Contract } from './store.ts'

/** Maximum number of contracts of an account. */
const MOST = 20

const ContractSchema = Type.Object(
  {
    id: text('Names the contract'),
    label: textOrNull('What the account calls it'),
    balanceCents: Type.Integer({ minimum: 0, description: 'What is put aside in it, in cents' }),
    createdAt: instant('When it was created'),
  },
  component('Contract', 'Money that the account has put aside, out of reach of cards and payments'),
)
const ResponseData = Type.Object({ contract: ContractSchema }, component('ContractResponse', 'A contract'))
const Body = Type.Object(
  { label: Type.Optional(nameText(1, 80)) },
  component('CreateContractRequest', 'What to call the contract. Other members are ignored'),
)
const example = {
  id: 'ctr_7a1e0f6b5c2d4e3f9a8b7c6d5e4f3a2b',
  label: 'Rent',
  balanceCents: 0,
  createdAt: examples.AT,
}

/** `GET` and `POST /user/v1/contracts`: lists and creates contracts. `deposits.transfer` moves money into and out of them. */
export function contractOperations(services: Pick<HostServices, 'db' | 'clock' | 'ledger'>): Operation[] {
  const { db } = services
  return [
    listOperation({
      id: 'contracts.list',
      title: 'List the contracts, newest first',
      path: '/user/v1/contracts',
      scopes: ['contracts.read'],
      name: 'contracts',
      component: component('ContractList', 'A page of contracts'),
      item: ContractSchema,
      example: { ...example, balanceCents: 5000 },
      rows: (accountId, page) => contractsWithBalances(db, accountId, page),
      write: rows => rows.map(contract => contractData(contract, contract.balanceCents)),
    }),
    createContract(services),
  ]
}

function createContract({ clock, ledger }: Pick<HostServices, 'clock' | 'ledger'>): Operation {
  return ledgerWrite({
    id: 'contracts.create',
    title: 'Create a contract, to put money aside',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/contracts'],
    credential: 'session',
    scopes: ['contracts.write'],
    spends: false,
    // Public clients send any object. It moves no money.
    unknownMembers: 'list',
    body: Body,
    response: ResponseData,
    example: { body: { label: 'Rent' }, response: { contract: example } },
    async write({ caller, body: { label = null } }, { tx, effectId }) {
      const { accountId } = caller.session
      await lockAccount(tx, accountId)
      const id = `ctr_${effectId}`
      const existing = await contracts.find(tx, accountId, id)
      if (!existing && (await contracts.count(tx, accountId)) >= MOST) {
        const details = { rule: 'max_contracts' } as const
        return deny('policy_blocked', `an account has at most ${MOST} contracts`, { details })
      }
      const created = { id, accountId, label, createdAt: clock.now() }
      const contract = existing ?? ((await contracts.insert(tx, created)) as Contract)
      const balanceCents = await ledger.balance(tx, ledgerAccounts.contract(accountId, id))
      return allow({
        data: { contract: contractData(contract, balanceCents) },
        summary: 'The contract exists.',
      })
    },
  })
}

function contractData({ id, label, createdAt }: Contract, balanceCents: number): Record<string, unknown> {
  return { id, label, balanceCents, createdAt: new Date(createdAt).toISOString() }
}
