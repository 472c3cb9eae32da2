import { readFileSync } from 'node:fs'
import t from 'tap'
import { packageNames } from './tree.ts'

const REPOSITORY = 'github.com/gatewright/gatewright'

t.test('every package says where it lives, so that links of its README work on its npm page', t => {
  for (const name of packageNames()) {
    const manifest = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as object
    t.match(
      manifest,
      {
        description: /^.{20,}$/,
        repository: { type: 'git', url: `git+https://${REPOSITORY}.git`, directory: `packages/${name}` },
        homepage: `https://${REPOSITORY}/tree/main/packages/${name}#readme`,
        bugs: `https://${REPOSITORY}/issues`,
        keywords: /.{3,}/,
      },
      name,
    )
  }
  t.end()
})
