import { memoryIdempotency } from '@gatewright/idempotency-store/memory'
import { memorySpends } from '@gatewright/scope-guard/memory'
import type { Store } from '../index.ts'
import { collector } from './store.ts'

/**
 * Keeps everything in the memory of this process: it is lost when the process ends, and processes do not share it. For tests and
 * for a first try. Under `NODE_ENV=production` it emits a warning.
 */
export function memoryStore(): Store {
  const ports = { idempotency: memoryIdempotency(), spends: memorySpends() }
  return { ...ports, migrate: async () => undefined, collect: collector(ports) }
}
