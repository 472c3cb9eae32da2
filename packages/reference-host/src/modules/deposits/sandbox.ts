import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { ledgerWrite, type Operation } from '../../http/operation.ts'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import { Currency, instant, component, text } from '../../schemas/fields.ts'
import * as examples from '../examples.ts'
import type { ModuleServices } from '../services.ts'

const Body = Type.Object(
  {
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' }),
    currency: Type.Optional(Currency),
  },
  component('DepositRequest', 'How much play money to credit'),
)
const Deposit = Type.Object(
  {
    id: text('The id of the deposit'),
    status: Type.Enum(['completed']),
    amountCents: Type.Integer({ description: 'What was credited, in cents' }),
    currency: Currency,
    createdAt: instant('When it was credited'),
  },
  component('Deposit', 'Play money that was credited (sandbox only)'),
)
const Answer = Type.Object({ deposit: Deposit }, component('DepositAnswer', 'The deposit that was made'))

/**
 * `POST /user/v1/deposits` of a sandbox: credits play money at once. A live host does not serve it: its money
 * comes from pay-ins or from the operator.
 */
export function sandboxDeposit({ clock, money }: ModuleServices): Operation {
  return ledgerWrite({
    id: 'deposits.create',
    title: 'Fund the balance with play money (sandbox only)',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/deposits'],
    credential: 'session',
    scopes: ['deposits.write'],
    body: Body,
    answer: Answer,
    example: {
      body: { amountCents: 10_000 },
      answer: {
        deposit: {
          ...{ id: 'dep_4b1f', status: 'completed', amountCents: 10_000 },
          ...{ currency: 'USD', createdAt: examples.AT },
        },
      },
    },
    // Spend caps do not apply to incoming money.
    spends: false,
    async write({ caller, body: { amountCents } }, { tx, effectId }) {
      const now = clock.now()
      const id = `dep_${effectId}`
      const { accountId } = caller.session
      const credit = ledgerAccounts.user(accountId)
      const debit = ledgerAccounts.sandbox
      // The id comes from the idempotency key, so the same request never credits twice, even after its record
      // has expired.
      await money.move(
        tx,
        { id: `deposit:${effectId}`, debit, credit, amountCents, cause: 'deposit' },
        [
          {
            ...{ accountId, source: { kind: 'deposit', id }, type: 'collateral', status: 'completed' },
            ...{ amountCents, direction: 'credit', description: 'Play money' },
          },
        ],
        now,
      )
      const createdAt = new Date(now).toISOString()
      return allow({
        data: { deposit: { id, status: 'completed', amountCents, currency: 'USD', createdAt } },
        summary: 'The balance is funded.',
      })
    },
  })
}
