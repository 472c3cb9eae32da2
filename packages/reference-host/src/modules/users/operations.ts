import { allow } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { SqlQueries } from '@gatewright/kernel/sql'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, ledgerWrite, readOperation } from '@gatewright/host'
import { component, instant, nameText, text, textOrNull } from '@gatewright/host/schemas'
import { isoOrNull } from '@gatewright/host/internal'
import { deny } from '../../product/denials.ts'
import * as examples from '../examples.ts'
import { changeProfile, openProfile } from './profile.ts'
import type { UserStore, User } from './store.ts'
import type { AgreementAcceptances } from '../agreement-acceptances.ts'

/** What the operations on a user work with. */
interface UserServices extends Pick<HostServices, 'db' | 'sealer'> {
  readonly users: UserStore
  readonly acceptances: AgreementAcceptances
}

const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
/** An address as RFC 5321 has it, without quoted local parts and address literals. */
const email = Type.String({
  pattern: `^(?=[^@]{1,64}@)${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})+$`,
  maxLength: 254,
})
const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }))

const Body = Type.Object(
  {
    displayName: orNull(nameText(1, 80), 'How the user wants to be called; null: nothing'),
    email: orNull(email, 'Where the user wants to be written to; null: nowhere'),
  },
  component('ChangeUserRequest', 'What to change of the user: at least one member'),
)

const common = {
  walletAddress: textOrNull('The wallet that the user is known by'),
  walletLabel: textOrNull('What the wallet is called'),
  displayName: textOrNull('How the user wants to be called'),
  email: textOrNull('Where the user wants to be written to; never the address of an identity check'),
  kycStatus: text("How far the check of the user's identity is"),
}
const createdAt = instant('When the user was first known')
const WalletUser = Type.Object(
  {
    id: text('Names the user in this API'),
    ...common,
    agreementsAccepted: Type.Boolean({
      description: 'Whether the agreements are accepted in their current version',
    }),
    frozenAt: Type.Union([instant('When'), Type.Null()], {
      description:
        'When the operator froze the account: until it is unfrozen, nothing leaves it. Null: it is not frozen',
    }),
    createdAt,
  },
  component('WalletUser', 'The user of the session'),
)
const ResponseData = {
  user: Type.Object({ user: WalletUser }, component('WalletUserResponse', 'The user of the session')),
  partner: Type.Object(
    { userId: text('The user, as the partner names them'), ...common, createdAt },
    component('PartnerUser', 'The user of the session, of a partner'),
  ),
} as const

const example = {
  walletAddress: examples.WALLET,
  walletLabel: 'Main',
  displayName: 'Ann',
  email: 'ann@example.com',
  kycStatus: 'not_submitted',
  createdAt: examples.AT,
}
const exampleResponse = {
  user: { user: { id: examples.owner.userId, ...example, agreementsAccepted: false, frozenAt: null } },
  partner: { userId: 'user-1', ...example },
}

/** `GET` and `PATCH /user/v1/users` and `/partner/v1/users`: the session's own user. */
export function userOperations(services: UserServices): Operation[] {
  return (['user', 'partner'] as const).flatMap(surface => [
    readUser(services, surface),
    changeUser(services, surface),
  ])
}

function readUser(services: UserServices, surface: Surface): Operation {
  const { users, db } = services
  return readOperation({
    id: 'users.read',
    title: 'Read the user of the session',
    surface,
    paths: [`/${surface}/v1/users`],
    scopes: ['users.read'],
    response: ResponseData[surface],
    example: exampleResponse[surface],
    async read({ accountId }) {
      const user = await users.ofAccount(db, accountId)
      return { data: await userData(services, db, surface, user), summary: 'The user.' }
    },
  })
}

function changeUser(
  services: Pick<UserServices, 'users' | 'sealer' | 'acceptances'>,
  surface: Surface,
): Operation {
  return ledgerWrite({
    id: 'users.change',
    title: 'Change the profile',
    details: 'The name or e-mail address of the user.',
    surface,
    method: 'PATCH',
    paths: [`/${surface}/v1/users`],
    credential: 'session',
    idempotency: 'none',
    spends: false,
    scopes: ['users.write'],
    body: Body,
    response: ResponseData[surface],
    example: {
      body: { displayName: 'Ann', email: 'ann@example.com' },
      response: exampleResponse[surface],
    },
    async write({ caller: { session }, body: { displayName, email } }, { tx }) {
      if (displayName === undefined && email === undefined)
        return deny('invalid_request', 'displayName or email is required', { field: 'displayName' })
      const change = {
        ...(displayName === undefined ? {} : { displayName }),
        ...(email === undefined ? {} : { email }),
      }
      const user = await changeProfile(tx, services, session.accountId, change)
      return allow({ data: await userData(services, tx, surface, user), summary: 'The user is changed.' })
    },
  })
}

async function userData(
  { sealer, acceptances }: Pick<UserServices, 'sealer' | 'acceptances'>,
  db: SqlQueries,
  surface: Surface,
  user: User,
): Promise<Record<string, unknown>> {
  const { walletAddress, walletLabel, kycStatus } = user
  const shown = { walletAddress, walletLabel, ...openProfile(sealer, user), kycStatus }
  const createdAt = new Date(user.createdAt).toISOString()
  if (surface === 'partner') return { userId: user.externalId, ...shown, createdAt }
  const agreementsAccepted = (await acceptances.acceptedAt(db, user.accountId)) !== undefined
  const frozenAt = isoOrNull(user.frozenAt)
  return { user: { id: user.id, ...shown, agreementsAccepted, frozenAt, createdAt } }
}
