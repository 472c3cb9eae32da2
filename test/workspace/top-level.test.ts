import { readdirSync } from 'node:fs'
import t from 'tap'

const ENTRIES = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'SECURITY.md',
  'biome.json',
  'docs',
  'examples',
  'knip.json',
  'package-lock.json',
  'package.json',
  'packages',
  'test',
  'tsconfig.json',
]
/** Made by an install and by a build, and ignored by git. */
const MADE = ['node_modules', 'build']

t.test(
  'the top level has only what belongs there, so that no log or profile is committed with it',
  async t => {
    const visible = readdirSync('.').filter(name => !name.startsWith('.') && !MADE.includes(name))
    t.same(visible.sort(), ENTRIES, 'move or delete the others')
  },
)
