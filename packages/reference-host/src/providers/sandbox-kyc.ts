import { Fault, type Clock, type EpochMs } from '@gatewright/kernel'
import { rows, toInteger, toText, type SqlClient } from '@gatewright/kernel/sql'
import type { KycProvider, KycReport, ReportedStatus } from './kyc.ts'

/** The name of the built-in providers. Other providers must have another name. */
export const SANDBOX_PROVIDER = 'sandbox'
/**
 * After what time an application with any other last name is approved. The job that repeats the call sees it within two
 * minutes.
 */
const DECIDED_AFTER_MS = 60_000
const OUTAGE_MS = 10_000

/** Ends of last names, and the status that each leads to. */
const STATUS_BY_NAME: readonly (readonly [ending: string, status: ReportedStatus | 'outage'])[] = [
  ['approved', 'approved'],
  ['denied', 'denied'],
  ['information', 'needs_information'],
  ['verification', 'needs_verification'],
  ['outage', 'outage'],
]

/** What the built-in provider needs. */
interface SandboxKycOptions {
  readonly db: SqlClient
  readonly clock: Clock
  /** The page where people complete an application. */
  readonly completionUrl: string
}

const FIRST = `insert into gw_sandbox_provider_calls (port, id, at, what) values ('kyc', $1, $2, $3)
  on conflict (port, id) do nothing`
const READ = `select at, what from gw_sandbox_provider_calls where port = 'kyc' and id = $1`

/**
 * Makes the built-in provider of a sandbox, which decides by the last name. Only the first call of an id decides, and no personal
 * data is stored.
 */
export function sandboxKyc({ db, clock, completionUrl }: SandboxKycOptions): KycProvider {
  return {
    name: SANDBOX_PROVIDER,
    async submit(id, { lastName }, signal) {
      signal.throwIfAborted()
      const now = clock.now()
      const name = lastName.toLowerCase()
      const [, status = 'pending'] = STATUS_BY_NAME.find(([ending]) => name.endsWith(ending)) ?? []
      await rows(db, FIRST, [id, now, status])
      const [row] = await rows(db, READ, [id])
      return reportOf(toText(row?.['what']), now - toInteger(row?.['at']), completionUrl)
    },
  }
}

function reportOf(what: string, age: EpochMs, completionUrl: string): KycReport {
  if (what === 'outage' && age < OUTAGE_MS)
    throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox provider simulates an outage of 10 seconds')
  const decided = what === 'outage' || (what === 'pending' && age >= DECIDED_AFTER_MS)
  const status = decided ? 'approved' : (what as ReportedStatus)
  return {
    version: null,
    status,
    reason: REASONS[status] ?? null,
    externalVerificationLink: null,
    completionLink: status === 'needs_verification' ? { url: completionUrl, params: {} } : null,
  }
}

const REASONS: Partial<Record<ReportedStatus, string>> = {
  denied: 'The identity could not be confirmed.',
  needs_information: 'Something is missing: submit the application again.',
  needs_verification: 'Follow the link to prove who you are.',
}
