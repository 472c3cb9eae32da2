import * as Type from 'typebox/type'
import { type HostServices, type Operation, readOperation } from '@gatewright/host'
import { component, Currency } from '@gatewright/host/schemas'
import { readUserMoney } from './user-money.ts'

const cents = (description: string): Type.TInteger => Type.Integer({ minimum: 0, description })
const Balance = Type.Object(
  {
    currency: Currency,
    availableCents: cents('What can be spent now, in cents'),
    pendingCents: cents('What is promised to merchants and to withdrawals under way'),
    contractsCents: cents('What is put aside in contracts'),
  },
  component('Balance', 'The money of the account in one currency'),
)
const ResponseData = Type.Object(
  { balances: Type.Array(Balance, { maxItems: 1 }) },
  component('BalanceList', 'The balances of the account'),
)
const PartnerBalances = Type.Object(
  {
    creditLimit: cents('The sum of `spendingPower` and `pendingCharges`, in cents'),
    pendingCharges: cents('What is promised to merchants'),
    postedCharges: cents('Always 0: what was charged has left the balance'),
    balanceDue: cents('Always 0: nothing is owed'),
    spendingPower: cents('What can be spent now'),
  },
  component('PartnerBalances', 'The money of the session user, in US cents'),
)
const PartnerResponse = Type.Object(
  { balances: PartnerBalances },
  component('PartnerBalancesResponse', 'The balances of the session user'),
)

/** `GET /user/v1/balances` and `GET /partner/v1/balances`: reads the money of the account. */
export function balanceOperations({ db }: Pick<HostServices, 'db'>): Operation[] {
  return [
    readOperation({
      id: 'balances.read',
      title: 'Read the balance of the account',
      resource: { name: 'balance' },
      paths: ['/user/v1/balances'],
      scopes: ['balances.read'],
      response: ResponseData,
      example: {
        balances: [{ currency: 'USD', availableCents: 10_000, pendingCents: 250, contractsCents: 5000 }],
      },
      async read({ accountId }) {
        const money = await readUserMoney(db, accountId)
        const { availableCents, contractsCents } = money
        const pendingCents = money.heldForCardsCents + money.heldForWithdrawalsCents
        return {
          data: { balances: [{ currency: 'USD', availableCents, pendingCents, contractsCents }] },
          summary: `${availableCents} US cents are available.`,
        }
      },
    }),
    readOperation({
      id: 'balances.read',
      title: 'Read the balances of the session user',
      surface: 'partner',
      paths: ['/partner/v1/balances'],
      scopes: [],
      response: PartnerResponse,
      example: {
        balances: {
          creditLimit: 10_250,
          pendingCharges: 250,
          postedCharges: 0,
          balanceDue: 0,
          spendingPower: 10_000,
        },
      },
      async read({ accountId }) {
        const money = await readUserMoney(db, accountId)
        const { availableCents: spendingPower, heldForCardsCents: pendingCharges } = money
        const creditLimit = spendingPower + pendingCharges
        return {
          data: {
            balances: { creditLimit, pendingCharges, postedCharges: 0, balanceDue: 0, spendingPower },
          },
          summary: `${spendingPower} US cents can be spent.`,
        }
      },
    }),
  ]
}
