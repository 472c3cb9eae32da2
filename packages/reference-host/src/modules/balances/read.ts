import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { operation, type Operation } from '../../http/operation.ts'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import { Currency, component } from '../../schemas/fields.ts'
import type { ModuleServices } from '../services.ts'

const Balance = Type.Object(
  {
    currency: Currency,
    availableCents: Type.Integer({ minimum: 0, description: 'What can be spent now, in cents' }),
  },
  component('Balance', 'What the account can spend in one currency'),
)
const Answer = Type.Object(
  { balances: Type.Array(Balance) },
  component('BalanceList', 'The balances of the account'),
)

/** `GET /user/v1/balances`: reads what the account can spend. */
export function readBalances({ db, ledger }: ModuleServices): Operation {
  return operation({
    id: 'balances.read',
    title: 'Read the balance of the account',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/balances'],
    credential: 'session',
    scopes: ['balances.read'],
    answer: Answer,
    example: { answer: { balances: [{ currency: 'USD', availableCents: 10_000 }] } },
    async handle({ caller }) {
      const availableCents = await ledger.balance(db, ledgerAccounts.user(caller.session.accountId))
      return allow({
        data: { balances: [{ currency: 'USD', availableCents }] },
        summary: `${availableCents} US cents are available.`,
      })
    },
  })
}
