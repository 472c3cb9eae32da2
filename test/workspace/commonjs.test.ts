// Loaders that turn ES modules into CommonJS (tsx, ts-node, jest with a transformer) look up each import as `require` does.
import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import t from 'tap'

import { importsOf, packageOf } from './imports.ts'
import { readPackages } from './tree.ts'

t.test('require resolves every package that a source imports', t => {
  const unresolved: string[] = []
  let count = 0
  for (const { name, sources, dependencies } of readPackages()) {
    const require = createRequire(resolve('packages', name, 'package.json'))
    const specifiers = sources.flatMap(({ text }) => importsOf(text).filter(({ typeOnly }) => !typeOnly))
    for (const specifier of new Set(specifiers.map(each => each.specifier))) {
      const imported = packageOf(specifier)
      if (imported === undefined || !dependencies.includes(imported)) continue
      count++
      try {
        require.resolve(specifier)
      } catch (error) {
        unresolved.push(`${name}: ${specifier}: ${(error as { code?: string }).code}`)
      }
    }
  }
  t.ok(count > 100)
  t.same(unresolved, [])
  t.end()
})
