import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { memoryApprovals, memorySpends } from '@gatewright/scope-guard/memory'
import type { Store } from '../index.ts'
import { checkOptions } from '@gatewright/kernel/internal'
import { collector } from './store.ts'

/**
 * Keeps everything in the memory of this process: it is lost when the process ends, and processes do not share it. For tests and
 * for a first try. Under `NODE_ENV=production` it emits a warning, and another where several processes of a server
 * are noticed; `perProcess: true` says that each may have a memory of its own.
 */
export function memoryStore(options: { readonly perProcess?: boolean } = {}): Store {
  const { perProcess } = checkOptions('memoryStore', options, { perProcess: { default: false } })
  const ports = { idempotency: memoryIdempotency(), spends: memorySpends(), approvals: memoryApprovals() }
  return { ...ports, onlyProcess: !perProcess, migrate: async () => undefined, collect: collector(ports) }
}
