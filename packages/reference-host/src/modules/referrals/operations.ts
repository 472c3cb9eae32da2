import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, ledgerWrite, readOperation } from '@gatewright/host'
import { component, text, textOrNull } from '@gatewright/host/schemas'
import { applyReferral, readReferral, type Referral } from './store.ts'

const ReferralSchema = Type.Object(
  {
    code: text('The code of this account, for others to apply: six letters'),
    joined: Type.Integer({ minimum: 0, description: 'How many accounts have applied it' }),
    appliedCode: textOrNull('The code that this account has applied'),
  },
  component('Referral', 'Invitations of the account. Who joined is never answered'),
)
const ResponseData = Type.Object(
  { referral: ReferralSchema },
  component('ReferralResponse', 'Invitations of the account'),
)
const Body = Type.Object(
  { code: Type.String({ pattern: '^[A-Za-z]{6}$', description: 'Six letters in any case' }) },
  component('ApplyReferralRequest', 'The code of whoever invited'),
)
const data = (referral: Referral) => ({ referral: { ...referral } })

/** `GET` and `POST /user/v1/referrals`: reads the code of the account, and applies the code of another account. */
export function referralOperations({ db }: Pick<HostServices, 'db'>): Operation[] {
  return [
    readOperation({
      id: 'referrals.read',
      title: 'Get the referral code',
      details: 'The code of the account, and how many have applied it.',
      paths: ['/user/v1/referrals'],
      scopes: ['referrals.read'],
      response: ResponseData,
      example: { referral: { code: 'KVTRZM', joined: 3, appliedCode: null } },
      async read({ accountId }) {
        const referral = await readReferral(db, accountId)
        return { data: data(referral), summary: `${referral.joined} accounts have joined.` }
      },
    }),
    ledgerWrite({
      id: 'referrals.apply',
      title: 'Apply a referral code',
      details: 'The code of another account, once.',
      surface: 'user',
      method: 'POST',
      paths: ['/user/v1/referrals'],
      credential: 'session',
      idempotency: 'none',
      spends: false,
      scopes: ['referrals.write'],
      body: Body,
      response: ResponseData,
      example: {
        body: { code: 'KVTRZM' },
        response: { referral: { code: 'BXNDPQ', joined: 0, appliedCode: 'KVTRZM' } },
      },
      denies: [404],
      async write({ caller: { session }, body }, { tx }) {
        const applied = await applyReferral(tx, session.accountId, body.code.toUpperCase())
        return applied.ok ? allow({ data: data(applied.value), summary: 'The code is applied.' }) : applied
      },
    }),
  ]
}
