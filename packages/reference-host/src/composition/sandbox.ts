import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replacePrivateFile } from '@gatewright/host/internal/commands'
import type { Clock } from '@gatewright/kernel'
import type { Issuer } from '@gatewright/session-issuer'
import type { PartnerStore } from '../modules/partners/store.ts'
import { partnerScopes } from '../product/scopes.ts'
import { PARTNER_KEY_FILE, type PartnerKeyPlace } from './greeting.ts'

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

/**
 * Writes the key of the sandbox partner into the data folder, for the host's own user only, and returns where it is. A key whose file
 * cannot be written is returned as text, since nothing else can show it. Without a new key, checks that the one in the file still works:
 * the folder may be that of another database, and the key may have been revoked.
 */
export async function storePartnerKey(
  dataDir: string,
  key: string | undefined,
  accepts: (key: string) => Promise<boolean>,
): Promise<PartnerKeyPlace> {
  const path = join(dataDir, PARTNER_KEY_FILE)
  if (key === undefined) {
    const stored = readStored(path)
    if (stored === undefined) return { kind: 'none' }
    return { kind: (await accepts(stored)) ? 'file' : 'ended' }
  }
  try {
    replacePrivateFile(path, `${key}\n`)
    return { kind: 'file' }
  } catch {
    return { kind: 'text', text: key }
  }
}

function readStored(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
