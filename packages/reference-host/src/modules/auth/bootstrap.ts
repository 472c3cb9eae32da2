import { allow, type Verdict } from '@gatewright/kernel'
import { missingScopes } from '@gatewright/kernel/internal'
import { addressBucket } from '@gatewright/kernel/address'
import { checkPolicyChain } from '@gatewright/scope-guard'
import type { ApiKey, Issuer } from '@gatewright/session-issuer'
import type { SessionRequest } from '@gatewright/session-issuer/internal'
import { type Verifier, requestDigest } from '@gatewright/signature-verifier'
import * as Type from 'typebox/type'
import type { Static, TSchema } from 'typebox/type'
import { component, nameText, text, textOrNull } from '@gatewright/host/schemas'
import { type OperationRules } from '@gatewright/host/internal'
import { PolicySchema } from '../credential-schemas.ts'
import { type HostServices, type Operation, operation, type Example } from '@gatewright/host'
import { chainIdInput } from '../../chain/chain-id.ts'
import { deny } from '../../product/denials.ts'
import {
  checkPolicy,
  keyLabel,
  parseRequestedScopes,
  requestedScopes,
  newKeyData,
  newKeyFields,
  newSessionData,
  newSessionFields,
  ttlSeconds,
} from '../credential-fields.ts'
import * as examples from '../examples.ts'
import { makeUnlessFrozen } from '../keys/make-unless-frozen.ts'
import type { UserStore } from '../users/store.ts'

/** What the first sign-in of a wallet works with. */
interface BootstrapServices
  extends Pick<HostServices, 'issuer' | 'db' | 'aliases' | 'clock' | 'operationRules'> {
  readonly verifier: Verifier
  readonly users: UserStore
}

// The verifier checks the form of the statement: the type is for the API description only.
const statement = (description: string, described: TSchema = Type.String()): Type.TUnknown =>
  Type.Unknown({ description, 'x-described': described })
const CHAIN = 'The chain that the wallet is on'
const Body = Type.Object(
  {
    address: Type.Optional(statement('The address of the wallet, as written in the signed text')),
    signature: statement('The signature of the text, in hex'),
    nonce: Type.Optional(statement('The nonce of the text, usable once')),
    issuedAt: Type.Optional(statement('When the text was created, as written there')),
    expiresAt: Type.Optional(statement('Until when the text is valid, as written there')),
    message: Type.Optional(
      statement('The signed text. Without address, nonce, issuedAt and expiresAt, they are read from it'),
    ),
    template: Type.Optional(statement('Names the template of the text, so that no other is tried')),
    connector: Type.Optional(Type.Union([nameText(0, 120), Type.Null()])),
    chainId: Type.Optional(statement(CHAIN, chainIdInput(CHAIN))),
    walletLabel: Type.Optional(nameText(0, 120)),
    keyLabel: Type.Optional(keyLabel),
    scopes: Type.Optional(requestedScopes),
    sessionScopes: Type.Optional(requestedScopes),
    sessionTtlSeconds: Type.Optional(ttlSeconds),
    policy: Type.Optional(PolicySchema),
    sessionPolicy: Type.Optional(PolicySchema),
  },
  component('BootstrapRequest', 'A signed statement of a wallet, and the requested key and session'),
)

const ResponseData = Type.Object(
  {
    ...newKeyFields,
    ...newSessionFields,
    walletAddress: text('The wallet that signed, in lower case'),
    userId: textOrNull('The user of the wallet'),
  },
  component('Bootstrapped', 'The first key of a wallet and a session. The key is shown only once'),
)
const example: Example<typeof Body, typeof ResponseData> = {
  body: {
    address: '0x52908400098527886E0F7030069857D2E4169EE7',
    signature: `0x${'5b'.repeat(64)}1c`,
    nonce: '2478963d-df90-4e94-82d6-f2b67c430166',
    issuedAt: examples.AT,
    expiresAt: '2026-11-01T12:05:00.000Z',
    scopes: ['keys.write', 'subscriptions.write'],
    sessionScopes: ['subscriptions.write'],
    policy: { dailySpendCapCents: 100_000 },
  },
  response: { ...examples.key, ...examples.session, ...examples.owner },
}

/**
 * `POST /user/v1/bootstrap`: turns a wallet's signed statement into a user, a key and a session.
 */
export function bootstrap({
  verifier,
  issuer,
  db,
  users,
  aliases,
  clock,
  operationRules,
}: BootstrapServices): Operation {
  return operation({
    id: 'auth.bootstrap',
    title: 'Create a key by a signed statement',
    details:
      'Turns a statement that a wallet has signed into an API key and a session. Needs no other credential.',
    surface: 'user',
    method: 'POST',
    paths: ['/user/v1/bootstrap'],
    credential: 'none',
    limit: 'bootstrap',
    topLevel: true,
    unknownMembers: 'deny',
    body: Body,
    response: ResponseData,
    example,
    async handle({ body, facts }) {
      // Checked before the nonce is claimed, so that a denial stores nothing.
      const requested = requestedRights(body, { aliases, facts }, operationRules)
      if (!requested.ok) return requested
      const { scopes, sessionScopes, policy, sessionPolicy, ignored } = requested.value
      // Throws a fault if no session can be signed. Otherwise each retry would use up a statement and count towards the
      // wallet's live keys.
      await issuer.jwks()

      const verified = await verifier.verify(body, {
        addressBucket: addressBucket(facts.address),
        ...statementDigest(body),
      })
      if (!verified.ok) return verified
      const { wallet, address } = verified.value
      const user = await users.findOrCreateByWallet(
        { wallet, walletAddress: address, label: body.walletLabel },
        clock.now(),
      )
      const created = await makeUnlessFrozen({ db, issuer }, user.accountId, {
        surface: 'user',
        rootBy: 'wallet',
        accountId: user.accountId,
        userId: user.id,
        walletAddress: address,
        label: body.keyLabel ?? null,
        scopes,
        ...policy,
      })
      if (!created.ok) return created
      const session = await firstSession(issuer, created.value.key, {
        scopes: sessionScopes,
        ...(body.sessionTtlSeconds === undefined ? {} : { ttlSeconds: body.sessionTtlSeconds }),
        ...sessionPolicy,
      })
      if (!session.ok) return session
      return allow({
        data: {
          ...newKeyData(created.value),
          ...newSessionData(session.value),
          walletAddress: address,
          userId: user.id,
          ...(ignored.length > 0 ? { ignoredScopes: ignored } : {}),
        },
        summary: 'The wallet is verified: keep the key and use the session.',
        next: 'POST /user/v1/sessions with X-User-Key mints the next session',
      })
    },
  })
}

/**
 * Issues the first session of a new key. If that fails, revokes the key: nobody would get its text, and it would count as a
 * live key.
 */
async function firstSession(
  issuer: Issuer,
  key: ApiKey,
  request: SessionRequest,
): ReturnType<Issuer['issueSession']> {
  const revoke = (): Promise<unknown> => issuer.revokeKey(key, key.id).catch(() => undefined)
  try {
    const session = await issuer.issueSession(key, request)
    if (!session.ok) await revoke()
    return session
  } catch (error) {
    await revoke()
    throw error
  }
}

interface RequestedRights {
  readonly scopes: readonly string[]
  readonly sessionScopes: readonly string[]
  readonly policy: { policy?: object }
  readonly sessionPolicy: { policy?: object }
  /** Retired scopes among the requested ones of key and session. */
  readonly ignored: readonly string[]
}

/** Checks the requested scopes and policies of the key and its session. */
function requestedRights(
  body: Static<typeof Body>,
  names: Parameters<typeof parseRequestedScopes>[3],
  rules: OperationRules,
): Verdict<RequestedRights> {
  const key = parseRequestedScopes('user', body.scopes, 'scopes', names)
  if (!key.ok) return key
  const { scopes } = key.value
  const session = parseRequestedScopes('user', body.sessionScopes ?? scopes, 'sessionScopes', names)
  if (!session.ok) return session
  const { scopes: sessionScopes } = session.value
  const beyond = missingScopes(sessionScopes, scopes).join(' ')
  if (beyond !== '') {
    const message = `sessionScopes asks for more than the key has: ${beyond}`
    return deny('insufficient_scope', message, { field: 'sessionScopes', details: { scope: beyond } })
  }
  const policy = checkPolicy(body.policy, 'policy', rules)
  if (!policy.ok) return policy
  const sessionPolicy = checkPolicy(body.sessionPolicy, 'sessionPolicy', rules)
  if (!sessionPolicy.ok) return sessionPolicy
  // The issuer checks this, too, but only after the signed statement is used up.
  const chain = [policy.value, sessionPolicy.value].flatMap(({ policy: document }, index) =>
    document ? [{ id: String(index), document }] : [],
  )
  const bounded = checkPolicyChain(chain)
  if (!bounded.ok) return { ...bounded, field: 'sessionPolicy' }
  const ignored = [...new Set([...key.value.ignored, ...session.value.ignored])]
  return allow({ scopes, sessionScopes, policy: policy.value, sessionPolicy: sessionPolicy.value, ignored })
}

/** Returns the digest of the request that a v2 or EIP-4361 statement must contain. */
function statementDigest(body: object): { requestDigest?: string } {
  const digest = requestDigest(body)
  return digest === undefined ? {} : { requestDigest: digest }
}
