import t from 'tap'
import { bundle, runtimes } from './bundle.ts'

const FETCH_AND_GUARD = `
import { fetchGate } from '@gatewright/http/fetch'
import { createGuard } from '@gatewright/scope-guard'
globalThis.made = [fetchGate, createGuard]`

const programs: Record<string, string> = {
  'http/fetch and scope-guard': FETCH_AND_GUARD,
  'the same and gate': `${FETCH_AND_GUARD}\nimport { gate } from '@gatewright/http'; globalThis.made.push(gate)`,
  'legacy-alias-router': `export * from '@gatewright/legacy-alias-router'`,
  'idempotency-store': `export * from '@gatewright/idempotency-store'`,
  'idempotency-store/memory': `export * from '@gatewright/idempotency-store/memory'`,
  'scope-guard': `export * from '@gatewright/scope-guard'`,
  'scope-guard/memory': `export * from '@gatewright/scope-guard/memory'`,
  'all of scope-guard, http/fetch and kernel': `export * from '@gatewright/scope-guard'; export * from '@gatewright/http/fetch'; export * from '@gatewright/kernel'`,
}

t.test('a bundle for another runtime has no builtin of Node, and says its size', async t => {
  for (const runtime of runtimes) {
    for (const [name, program] of Object.entries(programs)) {
      const { bytes, imports, text } = await bundle(runtime, program)
      t.same(imports, [], `${runtime}, ${name}: ${(bytes / 1000).toFixed(1)} KB minified`)
      t.notMatch(text, /\bBuffer\b/, `${runtime}, ${name}`)
    }
  }
})

t.test('keeps the entry with AsyncLocalStorage apart, and sees a builtin where there is one', async t => {
  const { imports } = await bundle('workerd', `export * from '@gatewright/idempotency-store/transactional'`)
  t.match(imports, ['node:async_hooks'])
})

t.test('http/fetch and scope-guard take at most 145 KB, jose included', async t => {
  const { bytes } = await bundle('workerd', FETCH_AND_GUARD)
  t.ok(bytes <= 145_000, `${bytes} bytes`)
})
