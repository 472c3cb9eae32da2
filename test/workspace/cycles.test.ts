import t from 'tap'
import { importCycles } from './cycles.ts'
import { readPackages } from './tree.ts'

t.test('no source file imports itself by way of others, types included', t => {
  t.same(importCycles(readPackages().flatMap(({ sources }) => sources)), [])
  t.end()
})

t.test('finds a circle of types, and names its files once', t => {
  const sources = [
    { path: 'a/x.ts', text: "import type { Y } from './y.ts'" },
    { path: 'a/y.ts', text: "import { z } from '../b/z.ts'" },
    { path: 'b/z.ts', text: "import type { X } from '../a/x.ts'" },
    { path: 'b/outside.ts', text: "import { z } from './z.ts'" },
  ]
  t.same(importCycles(sources), [['a/x.ts', 'a/y.ts', 'b/z.ts']])
  t.end()
})
