import { Fault, GRACE_MS, type EpochMs } from '@gatewright/kernel'
import { checkOptions, warnMemoryStorage } from '@gatewright/kernel/internal'
import type { Approval, ApprovalStorage } from './approvals-port.ts'
import type { MemoryOptions } from './options.ts'

interface Entry {
  readonly approval: Approval
  readonly effectId?: string
}

/**
 * Stores approvals in the memory of one process. They are lost when the process ends, and two processes do not share them. For tests and
 * single-process tools. When it is full, `open` throws `ERR_STORE_FULL`.
 */
export function memoryApprovals(options: MemoryOptions = {}): ApprovalStorage {
  const { capacity } = checkOptions('memoryApprovals', options, {
    capacity: { min: 1, max: Infinity, default: 100_000 },
  })
  warnMemoryStorage('ApprovalStorage')
  const entries = new Map<string, Entry>()
  const keyOf = (accountId: string, id: string): string => JSON.stringify([accountId, id])
  const drop = (cutoff: EpochMs, limit: number): number => {
    let dropped = 0
    for (const [key, { approval }] of entries) {
      if (dropped >= limit) break
      if (approval.expiresAt <= cutoff && entries.delete(key)) dropped++
    }
    return dropped
  }
  const openOf = (accountId: string, now: EpochMs): Approval[] =>
    [...entries.values()].flatMap(({ approval }) =>
      approval.request.accountId === accountId && isOpen(approval, now) ? [approval] : [],
    )

  return {
    async open({ id, request, requestedAt, expiresAt }, most) {
      const key = keyOf(request.accountId, id)
      const known = entries.get(key)?.approval
      if (known && known.state !== 'used' && requestedAt < known.expiresAt)
        return { outcome: 'known', approval: known }
      if (openOf(request.accountId, requestedAt).length >= most) return { outcome: 'full' }
      if (!known && entries.size >= capacity) drop(requestedAt - GRACE_MS, Infinity)
      if (!known && entries.size >= capacity)
        throw new Fault('ERR_STORE_FULL', `the memory of approvals holds ${capacity}`)
      const undecided = { state: 'pending', decidedBy: null, decidedAt: null } as const
      const approval = { id, request, requestedAt, expiresAt, ...undecided }
      entries.set(key, { approval })
      return { outcome: 'opened', approval }
    },
    async find(accountId, id, now) {
      const approval = entries.get(keyOf(accountId, id))?.approval
      return approval && now < approval.expiresAt ? approval : undefined
    },
    list: async (accountId, now) => openOf(accountId, now).sort(oldestFirst),
    async decide(accountId, id, { state, by }, now) {
      const key = keyOf(accountId, id)
      const approval = entries.get(key)?.approval
      if (!approval || now >= approval.expiresAt) return { outcome: 'gone' }
      if (approval.state !== 'pending') return { outcome: 'already', approval }
      const decided = { ...approval, state, decidedBy: by, decidedAt: now }
      entries.set(key, { approval: decided })
      return { outcome: 'decided', approval: decided }
    },
    async use(accountId, id, effectId, now) {
      const key = keyOf(accountId, id)
      const entry = entries.get(key)
      if (!entry || now >= entry.approval.expiresAt) return false
      if (entry.approval.state === 'used') return entry.effectId === effectId
      if (entry.approval.state !== 'approved') return false
      entries.set(key, { approval: { ...entry.approval, state: 'used' }, effectId })
      return true
    },
    async withdraw(accountId, keyIds, now) {
      const ended = openOf(accountId, now).filter(({ request }) => keyIds.includes(request.keyId))
      for (const { id } of ended) entries.delete(keyOf(accountId, id))
      return ended.sort(oldestFirst)
    },
    async expire(limit, now) {
      const due = [...entries.values()].flatMap(({ approval }) =>
        approval.expiresAt <= now && isUndecidedOrUnused(approval) ? [approval] : [],
      )
      const ended = due.sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit)
      for (const { id, request } of ended) entries.delete(keyOf(request.accountId, id))
      return ended
    },
    collect: async (limit, now) => drop(now - GRACE_MS, limit),
  }
}

/** Whether an approval may still be decided or used. */
function isOpen(approval: Approval, now: EpochMs): boolean {
  return isUndecidedOrUnused(approval) && now < approval.expiresAt
}

const isUndecidedOrUnused = ({ state }: Approval): boolean => state === 'pending' || state === 'approved'

/** Sorts approvals by when they were asked for. */
const oldestFirst = (a: Approval, b: Approval): number =>
  a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1)
