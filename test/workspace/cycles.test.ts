import { posix } from 'node:path'
import t from 'tap'
import { folderPairs, importCycles } from './cycles.ts'
import { readBrowser, readPackages } from './tree.ts'

const sources = [...readPackages().flatMap(each => each.sources), ...readBrowser()]

t.test('no source file imports itself by way of others, types included', t => {
  t.same(importCycles(sources), [])
  t.end()
})

t.test('no two folders import from each other', t => {
  t.same(folderPairs(sources), [])
  t.end()
})

t.test('finds folders that import from each other, also by what lies in folders below them', t => {
  const tree = [
    { path: 'src/index.ts', text: "import { x } from './a/x.ts'" },
    { path: 'src/a/x.ts', text: "import type { Y } from '../b/below/y.ts'" },
    { path: 'src/a/z.ts', text: "import { index } from '../index.ts'" },
    { path: 'src/b/below/y.ts', text: "import { w } from '../w.ts'" },
    { path: 'src/b/w.ts', text: "import { z } from '../a/z.ts'" },
  ]
  t.same(folderPairs(tree), ['src/a/x.ts imports src/b/below/y.ts, and src/b/w.ts imports src/a/z.ts'])
  t.end()
})

t.test('a folder of sources has at most 30 files', t => {
  const folders = sources.map(({ path }) => posix.dirname(path))
  t.same(
    [...new Set(folders)].filter(folder => folders.filter(each => each === folder).length > 30),
    [],
  )
  t.end()
})

t.test(
  'each folder of modules says what it gives to a host in module.ts, and the list of modules only names them',
  t => {
    const modules = 'packages/reference-host/src/modules/'
    const inModules = sources.flatMap(({ path }) =>
      path.startsWith(modules) ? [path.slice(modules.length)] : [],
    )
    const folders = new Set(inModules.filter(path => path.includes('/')).map(path => path.split('/')[0]))
    t.same(
      [...folders].filter(folder => !inModules.includes(`${folder}/module.ts`)),
      [],
    )
    const list = sources.find(({ path }) => path === 'packages/reference-host/src/composition/modules.ts')
    t.match(
      list?.text,
      /\n\n[^\n]+\nexport const modules: readonly Module<Services>\[\] = \[\n(  \w+,\n)+\]\n$/,
    )
    t.end()
  },
)

t.test('finds a circle of types, and names its files once', t => {
  const circle = [
    { path: 'a/x.ts', text: "import type { Y } from './y.ts'" },
    { path: 'a/y.ts', text: "import { z } from '../b/z.ts'" },
    { path: 'b/z.ts', text: "import type { X } from '../a/x.ts'" },
    { path: 'b/outside.ts', text: "import { z } from './z.ts'" },
  ]
  t.same(importCycles(circle), [['a/x.ts', 'a/y.ts', 'b/z.ts']])
  t.end()
})
