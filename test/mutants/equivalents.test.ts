import { existsSync } from 'node:fs'
import t from 'tap'
import { moduleOf } from './compiled-module.ts'
import { EQUIVALENTS, isListedAs } from './equivalents.ts'
import { mutationsOf } from './mutations.ts'

t.test('each mutation that is listed as equivalent is one of the code as it is', async t => {
  const files = [...new Set(EQUIVALENTS.map(({ source }) => moduleOf(source)))].filter(existsSync)
  const mutations = files.flatMap(mutationsOf)
  const unknown = EQUIVALENTS.filter(known => !mutations.some(mutation => isListedAs(known, mutation)))
  t.same(
    unknown.map(({ source, before, after }) => `${source}: ${before} -> ${after ?? 'anything'}`),
    [],
  )
})
