import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import { ledgerWrite, type Operation } from '../../server/operation.ts'
import * as examples from '../examples.ts'
import type { ModuleServices } from '../services.ts'
import { Currency, instant, named, text } from '../shapes.ts'

const Body = Type.Object(
  {
    amountCents: Type.Integer({ minimum: 1, maximum: 100_000_000, description: 'US cents' }),
    currency: Type.Optional(Currency),
  },
  named('DepositRequest', 'How much play money to credit'),
)
const Deposit = Type.Object(
  {
    id: text('Names the deposit'),
    status: Type.Enum(['completed']),
    amountCents: Type.Integer({ description: 'What was credited, in cents' }),
    currency: Currency,
    createdAt: instant('When it was credited'),
  },
  named('Deposit', 'Play money that was credited (sandbox only)'),
)
const Answer = Type.Object({ deposit: Deposit }, named('DepositAnswer', 'The deposit that was made'))

/**
 * `POST /user/v1/deposits` of a sandbox: play money, credited at once. A live host does not serve it: there money comes by
 * pay-ins, or from the operator.
 */
export function sandboxDeposit({ clock, ledger }: ModuleServices): Operation {
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
    // Money comes in: no cap on spending is about it.
    spends: false,
    async write({ caller, body: { amountCents } }, { tx, effectId }) {
      const now = clock.now()
      const id = `dep_${effectId}`
      const credit = ledgerAccounts.user(caller.session.accountId)
      const debit = ledgerAccounts.sandbox
      // The id comes from the idempotency key: the same request can never credit twice, not even after the key is forgotten.
      await ledger.transfer(
        tx,
        { id: `deposit:${effectId}`, debit, credit, amountCents, cause: 'deposit' },
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
