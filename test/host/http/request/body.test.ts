import { bodySchema } from '#packages/host/dist/http/request/body.js'
import t from 'tap'
import * as Type from 'typebox/type'

const body = Type.Object({
  amountCents: Type.Integer(),
  to: Type.Object({ walletAddress: Type.String() }),
  lines: Type.Optional(Type.Array(Type.Object({ unitCents: Type.Integer() }))),
})
const messageOf = (value: unknown, unknownMembers: 'list' | 'deny'): string | undefined => {
  const checked = bodySchema({ body, unknownMembers })['~standard'].validate(value) as {
    readonly issues?: readonly { readonly message: string }[]
  }
  return checked.issues?.[0]?.message
}
const to = { walletAddress: '0x1' }

t.test('a missing member is named with the misspelt one beside it, where unknown members are ignored', t => {
  for (const [value, message] of [
    [{ amount: 1, to }, 'amountCents is required: amount is not a known member; did you mean amountCents?'],
    [
      { amountcents: 1, to },
      'amountCents is required: amountcents is not a known member; did you mean amountCents?',
    ],
    [
      { note: 'x', amount: 1, to },
      'amountCents is required: amount is not a known member; did you mean amountCents?',
    ],
    [
      { amountCents: 1, to: { wallet: '0x1' } },
      'to.walletAddress is required: wallet is not a known member; did you mean walletAddress?',
    ],
    [{ note: 'x', to }, 'amountCents is required'],
    [{ to }, 'amountCents is required'],
    [{ to: { amount: 1, ...to } }, 'amountCents is required'],
    [{ amount: 1, amountCents: 1, to }, undefined],
    [{ amountCents: '1', amount: 1, to }, 'amountCents must be an integer'],
    [{ amountCents: 1, to, lines: [{ unit: 1 }] }, 'lines.0.unitCents is required'],
  ] as const)
    t.equal(messageOf(value, 'list'), message, JSON.stringify(value))
  t.equal(messageOf({ amount: 1, to }, 'deny'), 'amount is not a known member; did you mean amountCents?')
  const secret = `amount${'x'.repeat(40)}`
  t.notMatch(messageOf({ [secret]: 1, to }, 'list'), secret)
  t.end()
})
