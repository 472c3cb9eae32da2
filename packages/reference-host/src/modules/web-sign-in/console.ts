import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { component, instant, text } from '@gatewright/host/schemas'
import { grantedScopes } from '../credential-schemas.ts'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import type { WebTokens } from '@gatewright/host/internal'
import { userScopes } from '../../product/scopes.ts'
import { newSessionData } from '../credential-fields.ts'
import * as examples from '../examples.ts'

/** What the exchange of a web token for a session works with. */
interface ConsoleServices extends Pick<HostServices, 'issuer'> {
  readonly webTokens: WebTokens
}

const LIFETIME_SECONDS = 3600
/** The write scopes of a console. None of them moves money by itself: `approvals.write` lets a key make a payment that it has asked for. */
const WRITES = [
  'cards',
  'keys',
  'approvals',
  'sessions',
  'notifications',
  'kyc',
  'agreements',
  'onboarding',
].map(tag => `${tag}.write`)
/** The scopes of a console. It cannot read card numbers, because whoever has one can spend money. */
const CONSOLE_SCOPES: readonly string[] = userScopes.names.filter(
  name => WRITES.includes(name) || (name.endsWith('.read') && name !== 'cards.secrets.read'),
)
/**
 * Denies every amount, in case an operation with one of these scopes moves money. It also prevents that cards are revealed or unlocked.
 * What a console may do with cards is what takes rights away: lock, cancel, lower a limit. It makes none, and pays with none.
 */
const POLICY = {
  maxAuthAmountCents: 0,
  denyOperations: [
    'cards.create',
    'cards.propose',
    'cards.execute',
    'cards.simulateAuthorization',
    'cards.simulateClearing',
    'cards.simulateReversal',
    'cards.simulateRefund',
  ],
}

const ResponseData = Type.Object(
  {
    sessionToken: text('The bearer token: a secret, for the memory of one page'),
    sessionId: text('The id of the session'),
    expiresAt: instant('When the token stops working'),
    scopes: grantedScopes,
  },
  component('ConsoleSession', 'A session for the account console, which can move no money'),
)

/** `POST /auth/console`: exchanges a web token for a session of the account console. */
export function openConsole({ issuer, webTokens }: ConsoleServices): Operation {
  return operation({
    surface: 'public',
    method: 'POST',
    credential: 'web-token',
    topLevel: true,
    id: 'auth.openConsole',
    title: 'Open a console session',
    details: 'Exchanges a web token for a session that reads everything and can move no money.',
    paths: ['/auth/console'],
    limit: 'token-check',
    unknownMembers: 'deny',
    response: ResponseData,
    example: { response: { ...examples.session, scopes: [...CONSOLE_SCOPES] } },
    async handle({ caller: { webSession } }) {
      // Throws a fault if no session can be signed, before the web token is used up: otherwise a retry would fail.
      await issuer.jwks()
      const claimed = await webTokens.claim(webSession, 'open a console')
      if (!claimed.ok) return claimed
      const { accountId, userId, address: walletAddress } = webSession
      const opened = await issuer.openConsole({
        accountId,
        userId,
        walletAddress,
        scopes: CONSOLE_SCOPES,
        policy: POLICY,
        ttlSeconds: LIFETIME_SECONDS,
      })
      if (!opened.ok) return opened
      return allow({ data: newSessionData(opened.value), summary: 'The console is open for an hour.' })
    },
  })
}
