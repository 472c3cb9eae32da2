import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient } from '@gatewright/kernel/sql'
import type { KycProvider, KycReport, ReportedStatus } from './kyc.ts'

/** The name of the built-in providers, which no plugged one may have. */
export const SANDBOX_PROVIDER = 'sandbox'
/** How long an application takes whose name says nothing. The job that asks comes by then within two minutes. */
const DECIDED_AFTER_MS = 60_000
const OUTAGE_MS = 10_000

/** Last names, whole or as the end, and what comes of them. */
const MAGIC: readonly (readonly [ending: string, status: ReportedStatus | 'outage'])[] = [
  ['approved', 'approved'],
  ['denied', 'denied'],
  ['information', 'needs_information'],
  ['verification', 'needs_verification'],
  ['outage', 'outage'],
]

/** What the built-in provider works with. */
interface SandboxKycOptions {
  readonly db: SqlClient
  readonly clock: Clock
  /** Where people complete an application. */
  readonly completionUrl: string
}

const FIRST = `insert into gw_sandbox_provider_calls (port, id, at, what) values ('kyc', $1, $2, $3)
  on conflict (port, id) do nothing`
const READ = `select at, what from gw_sandbox_provider_calls where port = 'kyc' and id = $1`

/** The built-in provider of a sandbox: the last name decides. It knows an application from its first call on, and keeps no personal data. */
export function sandboxKyc({ db, clock, completionUrl }: SandboxKycOptions): KycProvider {
  return {
    name: SANDBOX_PROVIDER,
    async submit(id, { lastName }, signal) {
      signal.throwIfAborted()
      const now = clock.now()
      const name = lastName.toLowerCase()
      const [, status = 'pending'] = MAGIC.find(([ending]) => name.endsWith(ending)) ?? []
      await rows(db, FIRST, [id, now, status])
      const [row] = await rows(db, READ, [id])
      return reportOf(toText(row?.['what']), now - toInteger(row?.['at']), completionUrl)
    },
  }
}

function reportOf(what: string, age: EpochMs, completionUrl: string): KycReport {
  if (what === 'outage' && age < OUTAGE_MS)
    throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox plays an outage of 10 seconds')
  const decided = what === 'outage' || (what === 'pending' && age >= DECIDED_AFTER_MS)
  const status = decided ? 'approved' : (what as ReportedStatus)
  return {
    ...{ version: null, status, reason: REASONS[status] ?? null, externalVerificationLink: null },
    completionLink: status === 'needs_verification' ? { url: completionUrl, params: {} } : null,
  }
}

const REASONS: Partial<Record<ReportedStatus, string>> = {
  denied: 'The identity could not be confirmed.',
  needs_information: 'Something is missing: submit the application again.',
  needs_verification: 'Follow the link to prove who you are.',
}
