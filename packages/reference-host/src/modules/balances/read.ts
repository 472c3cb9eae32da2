import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { ledgerAccounts } from '../../ledger/accounts.ts'
import { operation, type Operation } from '../../server/operation.ts'
import type { ModuleServices } from '../services.ts'

/** `GET /user/v1/balances`: what the account can spend. */
export function readBalances({ db, ledger }: ModuleServices): Operation {
  return operation({
    id: 'balances.read',
    title: 'Read the balance of the account',
    surface: 'user',
    method: 'GET',
    paths: ['/user/v1/balances'],
    credential: 'session',
    scopes: ['balances.read'],
    answer: Type.Object({
      balances: Type.Array(
        Type.Object({ currency: Type.Enum(['USD']), availableCents: Type.Integer({ minimum: 0 }) }),
      ),
    }),
    async handle({ caller }) {
      const availableCents = await ledger.balance(db, ledgerAccounts.user(caller.session.accountId))
      return allow({
        data: { balances: [{ currency: 'USD', availableCents }] },
        summary: `${availableCents} US cents are available.`,
      })
    },
  })
}
