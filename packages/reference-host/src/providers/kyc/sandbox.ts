import { Fault, type EpochMs } from '@gatewright/kernel'
import { SANDBOX_PROVIDER, sandboxCalls, type SandboxCall, type SandboxOptions } from '../sandbox.ts'
import type { KycProvider, KycReport, ReportedStatus } from './port.ts'

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

/**
 * Makes the built-in provider of a sandbox, which decides by the last name. Only the first call of an id decides, and no personal
 * data is stored.
 */
export function sandboxKyc({
  db,
  clock,
  origin,
}: Pick<SandboxOptions, 'db' | 'clock' | 'origin'>): KycProvider {
  // The page where people complete an application.
  const completionUrl = `${origin}/identity/kyc`
  const calls = sandboxCalls(db, 'kyc')
  return {
    name: SANDBOX_PROVIDER,
    async submit(id, { firstName, lastName }, signal) {
      signal.throwIfAborted()
      const now = clock.now()
      const name = (lastName ?? firstName ?? '').toLowerCase()
      const [, status = 'pending'] = STATUS_BY_NAME.find(([ending]) => name.endsWith(ending)) ?? []
      await calls.addFirst(id, now, status)
      const { what, at } = (await calls.find(id)) as SandboxCall
      return reportOf(what, now - at, completionUrl)
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
