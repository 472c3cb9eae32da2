import { allow, type Session } from '@gatewright/kernel'
import type { CapState } from '@gatewright/scope-guard/internal'
import * as Type from 'typebox/type'
import { type HostServices, type Call, type Operation, ledgerWrite, readOperation } from '@gatewright/host'
import { isKeySession } from '@gatewright/host/internal'
import { component, nameText, text, instantOrNull, textOrNull } from '@gatewright/host/schemas'
import { PolicySchema, grantedScopes } from '../credential-schemas.ts'
import * as examples from '../examples.ts'
import type { UserStore, User } from '../users/store.ts'

/** What the operations on the identity of a caller work with. */
interface IdentityServices extends Pick<HostServices, 'issuer' | 'guard' | 'db'> {
  readonly users: UserStore
}

const BindingPolicy = Type.Object(
  { id: text('Names the policy'), policy: PolicySchema },
  component('BindingPolicy', 'A policy that binds the credential, its own or one from above'),
)
/** Maximum number of caps of a chain: 64 limits, and the three named caps of each of 16 policies. */
export const MAX_CAPS = 112
/** Schema of a cap on a credential. */
export const Cap = Type.Object(
  {
    policyId: text('The policy that has the cap'),
    rule: text('The member of the policy'),
    operations: Type.Union([Type.Array(Type.String(), { maxItems: 100 }), Type.Null()], {
      description: 'What a limit counts; null: every operation that moves money',
    }),
    unit: Type.Enum(['cents', 'count']),
    window: Type.Enum(['operation', 'day', 'week', 'month', '24h', '7d', '30d', 'total']),
    timeZone: Type.Optional(text('The time zone in which the window begins; absent for UTC')),
    cap: Type.Integer({ description: 'The most in one window' }),
    alertAtPercent: Type.Optional(
      Type.Integer({ description: 'An event says when so much of it is used; absent: none does' }),
    ),
    used: Type.Integer({ description: 'Spent or held in the current window' }),
    reserved: Type.Integer({ description: 'The part of `used` that operations without an outcome hold' }),
    remaining: Type.Integer({ description: 'What is free' }),
    resetsAt: instantOrNull(
      'When the next window begins, or the first part of a rolling one is free; null: never',
    ),
  },
  component('Cap', 'A cap on the credential, and how much of it is used'),
)
const Identity = Type.Object(
  {
    userId: text('The user'),
    accountId: text('The account that has the money'),
    principal: Type.Enum(['eoa', 'contract'], { description: 'What kind of wallet signed' }),
    walletAddress: textOrNull('The wallet that signed, in lower case'),
    walletLabel: textOrNull('What the wallet is called'),
    chainId: Type.Union([Type.Integer(), Type.Null()], { description: 'The chain of a contract wallet' }),
    keyId: text('The key that is used, directly or by a session'),
    sessionId: textOrNull('The session; null where the key itself was sent'),
    scopes: grantedScopes,
    policies: Type.Array(BindingPolicy, { maxItems: 16, description: 'All of them must allow' }),
    caps: Type.Array(Cap, { maxItems: MAX_CAPS, description: 'Every cap of the policies' }),
    expiresAt: instantOrNull('When the credential stops working by itself; null: never'),
  },
  component('Identity', 'What the credential of this request is and may do'),
)
const ResponseData = Type.Object(
  { identity: Identity },
  component('IdentityResponse', 'The credential of this request'),
)
const Body = Type.Object(
  { walletLabel: Type.Union([nameText(1, 120), Type.Null()], { description: 'Null: no label' }) },
  component('ChangeIdentityRequest', 'What can be changed of an identity'),
)
/** A cap in examples. */
export const exampleCap: Type.Static<typeof Cap> = {
  policyId: 'pol_1',
  rule: 'dailySpendCapCents',
  operations: null,
  unit: 'cents',
  window: 'day',
  cap: 5000,
  used: 1200,
  reserved: 300,
  remaining: 3800,
  resetsAt: examples.LATER,
}
const { sessionId, expiresAt } = examples.session
const example = {
  identity: {
    ...examples.owner,
    accountId: 'acc_5b0b4f9be2b84b6a9d8d6a2f65d3e2aa',
    principal: 'eoa' as const,
    chainId: null,
    walletLabel: 'Main',
    keyId: examples.key.userKeyId,
    sessionId,
    expiresAt,
    scopes: ['identity.read'],
    policies: [{ id: 'pol_1', policy: { dailySpendCapCents: 5000 } }],
    caps: [exampleCap],
  },
}
const common = {
  surface: 'user',
  paths: ['/user/v1/identity'],
  credential: 'session',
  topLevel: true,
  response: ResponseData,
} as const

/** `GET` and `PATCH /user/v1/identity`: describes the credential of the request. */
export function identityOperations({ users, issuer, guard, db }: IdentityServices): Operation[] {
  const rights = async (session: Session): Promise<Rights> => {
    const [policies, caps] = await Promise.all([issuer.policies(session.policyIds), guard.caps(session)])
    return { policies, caps }
  }
  return [
    readOperation({
      ...common,
      id: 'identity.read',
      title: 'Inspect a credential',
      details: 'What the credential of this request is and may do.',
      scopes: ['identity.read'],
      example,
      async read(session) {
        const held = await rights(session)
        const user = await users.ofAccount(db, session.accountId)
        return { data: identityData(session, user, held), summary: 'This credential.' }
      },
    }),
    ledgerWrite({
      ...common,
      id: 'identity.change',
      title: 'Change the label of the wallet',
      method: 'PATCH',
      idempotency: 'none',
      spends: false,
      scopes: ['identity.write'],
      body: Body,
      example: { body: { walletLabel: 'Main' }, response: example },
      // Read before the transaction, because policies can be in another store.
      prepare: async ({ caller: { session } }: Call<'session', unknown>) => allow(await rights(session)),
      async write({ caller: { session }, body: { walletLabel } }, { tx, prepared }) {
        const user = await users.setWalletLabel(tx, session.accountId, walletLabel)
        return allow({ data: identityData(session, user, prepared), summary: 'The label is changed.' })
      },
    }),
  ]
}

/** Converts a cap for responses. */
export function capData({
  operations,
  resetsAt,
  held,
  timeZone,
  alertAtPercent,
  ...cap
}: CapState): Record<string, unknown> {
  return {
    ...cap,
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(alertAtPercent === undefined ? {} : { alertAtPercent }),
    reserved: held,
    operations: operations ?? null,
    resetsAt: resetsAt === null ? null : new Date(resetsAt).toISOString(),
  }
}

/** The policies and caps that bind a credential. */
interface Rights {
  readonly policies: readonly unknown[]
  readonly caps: readonly CapState[]
}

function identityData(
  session: Session,
  { id, wallet, walletLabel }: User,
  { policies, caps }: Rights,
): Record<string, unknown> {
  const { accountId, walletAddress, keyId, policyIds, scopes } = session
  const direct = isKeySession(session)
  const end = direct ? session.key.expiresAt : session.expiresAt
  const chainId = /^eip155:(\d+):/.exec(wallet ?? '')?.[1]
  return {
    identity: {
      userId: id,
      accountId,
      principal: chainId === undefined ? 'eoa' : 'contract',
      walletAddress,
      walletLabel,
      chainId: chainId === undefined ? null : Number(chainId),
      keyId,
      sessionId: direct ? null : session.sessionId,
      scopes,
      policies: policies.map((policy, index) => ({ id: policyIds[index], policy })),
      caps: caps.map(capData),
      expiresAt: end === null ? null : new Date(end).toISOString(),
    },
  }
}
