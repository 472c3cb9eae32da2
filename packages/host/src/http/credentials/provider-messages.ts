import { createHmac, timingSafeEqual } from 'node:crypto'
import { allow, Fault, type Verdict, type Clock } from '@gatewright/kernel'
import type { FailureLimit } from '@gatewright/scope-guard'
import type { CanonicalFacts } from '@gatewright/http/internal'
import { deny } from '../codes.ts'

/** A signed message of a provider. */
interface SignedMessage {
  /** Returns the value of a header field. The name is in lower case. */
  header(name: string): string | undefined
  /** The body as received: its bytes are signed. */
  readonly body: Uint8Array
}

/**
 * Verifies that a message is signed by the provider and recent. Resolves with the id of the message, which must be the same when the
 * provider sends the message again: it is how a replay is recognized. Resolves with undefined for an invalid message; must not throw
 * for one.
 */
export type MessageVerifier = (message: SignedMessage) => Promise<string | undefined>

/** A proven message of a provider. */
export interface ProviderMessage {
  readonly provider: string
  /** The id of the message: the same if the provider sends it again. */
  readonly messageId: string
}

/**
 * Verifies messages of providers. Denials: one `unauthorized` for every cause; `rate_limited` for an address with too many
 * failures.
 */
export type ReceiveProviderMessage = (
  facts: CanonicalFacts,
  provider: string,
  body: Uint8Array,
) => Promise<Verdict<ProviderMessage>>

/** The services that verify messages. */
interface ProviderMessageServices {
  /** Secrets of Standard Webhooks, by the provider's name. */
  readonly secrets: readonly { readonly provider: string; readonly secret: Uint8Array }[]
  /** The verifiers of providers that do not sign by Standard Webhooks, by provider name. */
  readonly verifiers: ReadonlyMap<string, MessageVerifier>
  readonly clock: Clock
  readonly failures: FailureLimit
}

const denied = deny('unauthorized', 'not a recent message signed by this provider')

/** Creates the check of provider messages. */
export function providerMessages({
  secrets,
  verifiers,
  clock,
  failures,
}: ProviderMessageServices): ReceiveProviderMessage {
  return async (facts, provider, body) => {
    const verify =
      verifiers.get(provider) ??
      standardWebhooks(
        secrets.filter(each => each.provider === provider).map(({ secret }) => secret),
        clock,
      )
    const header = (name: string): string | undefined => facts.header(name)
    const checked = await failures.runWithinLimit(facts.address, () => verified(verify, { header, body }))
    if (typeof checked === 'object') return checked
    if (checked !== undefined && MESSAGE_ID.test(checked)) return allow({ provider, messageId: checked })
    await failures.charge(facts.address)
    return denied
  }
}

/**
 * The id of a verified message. If a verifier throws, the message is not verified; a `Fault` is rethrown, because it means that
 * the verifier could not decide.
 */
async function verified(verify: MessageVerifier, message: SignedMessage): Promise<string | undefined> {
  try {
    return await verify(message)
  } catch (error) {
    if (error instanceof Fault) throw error
    return undefined
  }
}

const MESSAGE_ID = /^[!-~]{1,120}$/
/** How far a timestamp may differ from the host's clock (Standard Webhooks 1.0.0). */
const TOLERANCE_MS = 300_000

/** Checks a message by Standard Webhooks 1.0.0. Two secrets are valid while one replaces the other. */
export function standardWebhooks(secrets: readonly Uint8Array[], clock: Clock): MessageVerifier {
  return async ({ header, body }) => {
    const [id, timestamp = '', given] = ['id', 'timestamp', 'signature'].map(name =>
      header(`webhook-${name}`),
    )
    if (id === undefined || given === undefined || !MESSAGE_ID.test(id)) return undefined
    if (!/^\d{1,12}$/.test(timestamp)) return undefined
    if (Math.abs(clock.now() - Number(timestamp) * 1000) > TOLERANCE_MS) return undefined
    const signatures = given.split(' ').filter(each => each.startsWith('v1,'))
    const good = secrets.some(secret => {
      const mac = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest()
      return signatures.some(each => equal(Buffer.from(each.slice(3), 'base64'), mac))
    })
    return good ? id : undefined
  }
}

function equal(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}
