import { allow, type Session, type Verdict } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, instant, text, Currency } from '@gatewright/host/schemas'
import { ledgerAccounts } from '@gatewright/host/internal'
import type { HostServices, Success, WriteContext } from '@gatewright/host'
import { systemAccounts } from '../../product/system-accounts.ts'

/** Schema of the response of `deposits.create` for play money. */
export const PlayMoney = Type.Object(
  {
    id: text('The id of the deposit'),
    status: Type.Enum(['completed']),
    amountCents: Type.Integer({ description: 'What was credited, in cents' }),
    currency: Currency,
    createdAt: instant('When it was credited'),
  },
  component('PlayMoney', 'Play money that was credited (sandbox only)'),
)

/** Credits play money immediately. A live host has no play money: its money comes from pay-ins, deposits or the operator. */
export async function creditPlayMoney(
  { clock, money }: Pick<HostServices, 'clock' | 'money'>,
  { accountId, keyId }: Pick<Session, 'accountId' | 'keyId'>,
  amountCents: number,
  { tx, effectId }: Pick<WriteContext, 'tx' | 'effectId'>,
): Promise<Verdict<Success>> {
  const now = clock.now()
  const id = `dep_${effectId}`
  const credit = ledgerAccounts.user(accountId)
  const debit = systemAccounts.sandbox
  // The id comes from the idempotency key, so the same request never credits twice, even after its record
  // has expired.
  await money.move(
    tx,
    { id: `deposit:${effectId}`, debit, credit, amountCents, cause: 'deposit' },
    [
      {
        accountId,
        source: { kind: 'deposit', id },
        type: 'collateral',
        status: 'completed',
        amountCents,
        direction: 'credit',
        description: 'Play money',
        keyId,
      },
    ],
    now,
  )
  const createdAt = new Date(now).toISOString()
  return allow({
    data: { deposit: { id, status: 'completed', amountCents, currency: 'USD', createdAt } },
    summary: 'The balance is funded.',
  })
}
