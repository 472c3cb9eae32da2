import type { Clock } from '@gatewright/kernel/internal'
import type { Issuer } from '@gatewright/session-issuer'
import type { PartnerStore } from '../modules/partners/store.ts'
import { partnerScopes } from '../product/scopes.ts'

/** The same id on every host, so that of several hosts that start simultaneously on one database only one creates the partner. */
const SANDBOX_PARTNER = 'ptn_sandbox'

/**
 * On the first start of a sandbox, creates a partner and returns its key, which is shown nowhere else. Later
 * starts return undefined. The key is created before the partner, so a start that is killed in between leaves
 * no partner without a key.
 */
export async function firstPartnerKey(
  partners: PartnerStore,
  issuer: Issuer,
  clock: Clock,
): Promise<string | undefined> {
  if (await partners.hasAny()) return undefined
  const created = await issuer.createKey({
    surface: 'partner',
    accountId: SANDBOX_PARTNER,
    userId: null,
    walletAddress: null,
    scopes: partnerScopes.names,
  })
  if (!created.ok) throw new Error(`the sandbox partner key could not be made: ${created.message}`)
  const first = await partners.add(SANDBOX_PARTNER, 'Sandbox partner', clock.now())
  return first ? created.value.text : undefined
}

/** Shell lines that resolve a user, open a session and list cards. */
export function curlLines(url: string, partnerKey: string | undefined): string {
  const lines = [
    ...(partnerKey === undefined ? [] : [`export PARTNER_KEY=${partnerKey}`]),
    `curl -s ${url}/partner/v1/users/resolve -H "X-Partner-Key: $PARTNER_KEY" -H 'Content-Type: application/json' -d '{"userId":"user-1"}'`,
    `SESSION=$(curl -s ${url}/partner/v1/sessions -H "X-Partner-Key: $PARTNER_KEY" -H 'Content-Type: application/json' -d '{"userId":"user-1","scopes":["cards.read"]}' | grep -o '"sessionToken":"[^"]*' | cut -d'"' -f4)`,
    `curl -s "${url}/partner/v1/cards?limit=5" -H "Authorization: Bearer $SESSION"`,
  ]
  return lines.map(line => `  ${line}`).join('\n')
}
