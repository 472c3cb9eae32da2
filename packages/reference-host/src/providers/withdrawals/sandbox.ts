import { createHash } from 'node:crypto'
import { Fault, type EpochMs } from '@gatewright/kernel'
import { SANDBOX_PROVIDER, sandboxCalls, type SandboxOptions } from '../sandbox.ts'
import { sandboxAssets, sandboxQuote } from '../sandbox-prices.ts'
import type { WithdrawalProvider, WithdrawalReport } from './port.ts'

/** Amounts with which a withdrawal takes another course. */
const MAGIC: Readonly<Record<number, 'rejected' | 'response lost' | 'lost'>> = {
  1_000_001: 'rejected',
  1_000_003: 'response lost',
  1_000_004: 'lost',
}
/** After what time a withdrawal that is ready is completed. */
const COMPLETED_AFTER_MS = 5000

/** Makes the built-in provider of withdrawals. The amount decides what happens. */
export function sandboxWithdrawals({ db, clock }: Pick<SandboxOptions, 'db' | 'clock'>): WithdrawalProvider {
  const calls = sandboxCalls(db, 'withdrawals')
  const find = async (id: string): Promise<WithdrawalReport | undefined> => {
    const call = await calls.find(id)
    return call && reportOf(id, call.what, clock.now() - call.at)
  }
  return {
    name: SANDBOX_PROVIDER,
    assets: async () => sandboxAssets,
    quote: async want => sandboxQuote(want, 'withdrawals'),
    async send(id, { amountCents }, signal) {
      signal.throwIfAborted()
      const what = MAGIC[amountCents] ?? 'sent'
      const isFirst = await calls.addFirst(id, clock.now(), what)
      if (what === 'rejected') return { rejected: 'The sandbox refuses this amount.' }
      if (isFirst && what !== 'sent')
        throw new Fault('ERR_PROVIDER_UNAVAILABLE', 'the sandbox provider simulates a lost answer')
      if (what === 'lost') await calls.replace(id, 'lost', clock.now(), 'sent')
      return (await find(id)) as WithdrawalReport
    },
    async find(id, signal) {
      signal.throwIfAborted()
      return find(id)
    },
  }
}

function reportOf(id: string, what: string, age: EpochMs): WithdrawalReport | undefined {
  // It never arrived.
  if (what === 'lost') return undefined
  const none = { reason: null, txHash: null, paidCents: null, relay: null }
  if (what === 'rejected') return { ...none, status: 'failed', reason: 'The sandbox refuses this amount.' }
  const relay = { reference: `sandbox-${id}`, payinAddress: null, payinExtraId: null }
  if (what === 'sent' && age < COMPLETED_AFTER_MS) return { ...none, status: 'ready', relay }
  const txHash = `0x${createHash('sha256').update(id).digest('hex')}`
  return { ...none, status: 'completed', txHash, relay }
}
