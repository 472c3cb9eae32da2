import { allow, type Session } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import type { Static } from 'typebox/type'
import { component, idText, instant, text, textOrNull } from '@gatewright/host/schemas'
import { ledgerAccounts, tooLittleMoney } from '@gatewright/host/internal'
import { type HostServices, type Operation, ledgerWrite, type TransactionEntry } from '@gatewright/host'
import { deny } from '../../product/denials.ts'
import * as examples from '../examples.ts'
import { contracts } from '../contracts/store.ts'

const ContractId = Type.Union([idText(120), Type.Null()], {
  description: 'A contract of the account; null: the balance',
})
const cents = Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' })
const Body = Type.Object(
  { amountCents: cents, fromContractId: ContractId, toContractId: ContractId },
  component('TransferRequest', 'Which money to move between the balance and contracts'),
)
const ResponseData = Type.Object(
  {
    transfer: Type.Object(
      {
        id: text('Names the transfer'),
        fromContractId: textOrNull('Where the money was; null: in the balance'),
        toContractId: textOrNull('Where the money is now; null: in the balance'),
        amountCents: cents,
        createdAt: instant('When it was moved'),
      },
      component('Transfer', 'Money moved between the balance and contracts of one account'),
    ),
  },
  component('TransferResponse', 'The transfer that was made'),
)
const exampleBody = {
  amountCents: 5000,
  fromContractId: null,
  toContractId: 'ctr_7a1e0f6b5c2d4e3f9a8b7c6d5e4f3a2b',
}

/**
 * `POST /user/v1/deposits/transfer`: moves the account's own money between its balance and its contracts. No cap counts it,
 * because the money does not leave the account.
 */
export function transferDeposit({
  clock,
  ledger,
  money,
}: Pick<HostServices, 'clock' | 'ledger' | 'money'>): Operation {
  return ledgerWrite({
    id: 'deposits.transfer',
    title: 'Move money to or from savings',
    details: 'Between the balance and contracts.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/deposits/transfer'],
    credential: 'session',
    scopes: ['deposits.write'],
    spends: false,
    body: Body,
    response: ResponseData,
    denies: [404],
    example: {
      body: exampleBody,
      response: {
        transfer: { id: 'move_4b1f0e9d8c7b6a594837261504f3e2d1', ...exampleBody, createdAt: examples.AT },
      },
    },
    async write({ caller, body }, { tx, effectId }) {
      const { amountCents, fromContractId: from, toContractId: to } = body
      const { accountId } = caller.session
      const now = clock.now()
      if (from === to) {
        const message = 'toContractId must name another place than fromContractId'
        return deny('invalid_request', message, { field: 'toContractId' })
      }
      for (const [field, id] of [
        ['fromContractId', from],
        ['toContractId', to],
      ] as const) {
        if (id !== null && !(await contracts.find(tx, accountId, id)))
          return deny('not_found', 'no such contract', { field })
      }
      const place = (id: string | null) =>
        id === null ? ledgerAccounts.user(accountId) : ledgerAccounts.contract(accountId, id)
      const id = `move_${effectId}`
      const transfer = {
        id: `move:${effectId}`,
        debit: place(from),
        credit: place(to),
        amountCents,
        cause: 'move',
        cover: { exempt: 'own_money' },
      } as const
      const result = await money.move(tx, transfer, entriesOf(id, caller.session, body), now)
      if (result === 'insufficient')
        return tooLittleMoney(await ledger.balance(tx, transfer.debit), amountCents)
      const createdAt = result === 'done' ? now : await ledger.transferredAt(tx, accountId, transfer.id)
      return allow({
        data: {
          transfer: {
            id,
            fromContractId: from,
            toContractId: to,
            amountCents,
            createdAt: new Date(createdAt as number).toISOString(),
          },
        },
        summary: 'The money is moved.',
      })
    },
  })
}

/** Makes the transaction row of a transfer. A transfer between two contracts does not change the balance, and has none. */
function entriesOf(
  id: string,
  { accountId, keyId }: Pick<Session, 'accountId' | 'keyId'>,
  body: Static<typeof Body>,
): TransactionEntry[] {
  const { amountCents, fromContractId: from, toContractId: to } = body
  if (from !== null && to !== null) return []
  return [
    {
      accountId,
      source: { kind: 'move', id },
      type: 'collateral',
      status: 'completed',
      ...(from === null
        ? { direction: 'debit', description: 'Set aside' }
        : { direction: 'credit', description: 'Taken back' }),
      amountCents,
      keyId,
    },
  ]
}
