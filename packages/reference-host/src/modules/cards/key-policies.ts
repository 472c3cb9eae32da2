import { Fault } from '@gatewright/kernel'
import { rows, type SqlClient, type SqlQueries } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { PolicyDocument } from '@gatewright/scope-guard'
import type { Issuer } from '@gatewright/session-issuer'
import type { EndedLineage, KeyLineage } from '@gatewright/session-issuer/internal'

/** The policies of the keys that made cards. They bind these cards for ever, also after the keys are deleted. */
export interface CardKeyPolicies {
  /**
   * Reads the policies that bind the cards of a key now. Undefined: they are not known, so payments must be declined. Faults:
   * those of the issuer.
   */
  read(lineage: KeyLineage): Promise<readonly PolicyDocument[] | undefined>
  /**
   * Copies the last policies of all keys that have ended and have cards which are not canceled, and deletes copies that no such
   * card needs. Call it before the issuer deletes ended keys. A key with invalid stored data is reported and skipped. Fault:
   * `ERR_STORE_UNAVAILABLE`, after which not all policies were copied.
   */
  keep(signal: AbortSignal, report: (error: unknown) => void): Promise<void>
}

/** How many keys one statement reads. */
const PAGE = 500

const KEPT = 'select policies from gw_card_key_policies where account_id = $1 and lineage_id = $2'
const KEEP = `insert into gw_card_key_policies (account_id, lineage_id, policies) values ($1, $2, $3)
  on conflict (account_id, lineage_id) do nothing`
const DROP = `delete from gw_card_key_policies where (account_id, lineage_id) not in (
  select key_account_id, key_lineage_id from gw_cards where key_lineage_id is not null and status <> 'canceled')`
/** Selects the keys of cards, in the order of the index. */
const NOT_KEPT = `select distinct key_account_id, key_lineage_id from gw_cards
  where key_lineage_id is not null and status <> 'canceled' and (key_account_id, key_lineage_id) > ($1, $2)
  order by key_account_id, key_lineage_id limit $3`

const HAS_CARDS = `select 1 from gw_cards
  where key_account_id = $1 and key_lineage_id = $2 and status <> 'canceled' limit 1`

/**
 * Copies the last policies of keys that are about to be deleted and have cards which are not canceled. An error is reported and
 * rethrown, so that the keys are not deleted.
 */
export async function keepPoliciesOf(
  db: SqlQueries,
  lineages: readonly EndedLineage[],
  report: (error: unknown) => void,
): Promise<void> {
  try {
    for (const { accountId, lineageId, policies } of lineages) {
      const cards = await rows(db, HAS_CARDS, [accountId, lineageId])
      if (cards.length > 0) await rows(db, KEEP, [accountId, lineageId, JSON.stringify(policies)])
    }
  } catch (error) {
    report(error)
    throw error
  }
}

/** Finds lineages by the id of their first key among keys that are deleted and have cards. */
export async function deletedLineages(db: SqlQueries, keyId: string): Promise<KeyLineage[]> {
  const found = await rows(db, 'select account_id from gw_card_key_policies where lineage_id = $1', [keyId])
  return found.map(row => ({ accountId: toText(row['account_id']), lineageId: keyId }))
}

/** Makes the reader and keeper of these policies, from the keys of an issuer and the copies in the host's database. */
export function cardKeyPolicies(db: SqlClient, issuer: Issuer): CardKeyPolicies {
  const keepEnded = async (lineage: KeyLineage): Promise<void> => {
    const policies = await issuer.endedLineagePolicies(lineage)
    if (policies) await rows(db, KEEP, [lineage.accountId, lineage.lineageId, JSON.stringify(policies)])
  }
  return {
    async read(lineage) {
      const stored = await issuer.lineagePolicies(lineage)
      if (stored) return stored
      const [kept] = await rows(db, KEPT, [lineage.accountId, lineage.lineageId])
      return kept && (JSON.parse(toText(kept['policies'])) as PolicyDocument[])
    },
    async keep(signal, report) {
      let [last, found]: [KeyLineage, number] = [{ accountId: '', lineageId: '' }, PAGE]
      while (found === PAGE && !signal.aborted) {
        const page = await rows(db, NOT_KEPT, [last.accountId, last.lineageId, PAGE])
        found = page.length
        for (const row of page) {
          last = { accountId: toText(row['key_account_id']), lineageId: toText(row['key_lineage_id']) }
          if (signal.aborted) return
          await keepEnded(last).catch((error: unknown) => {
            if (error instanceof Fault && error.code === 'ERR_STORE_UNAVAILABLE') throw error
            report(error)
          })
        }
      }
      await rows(db, DROP, [])
    },
  }
}
