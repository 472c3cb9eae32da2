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

t.test('every package has the license in its tarball', t => {
  const license = readFileSync('LICENSE', 'utf8')
  for (const name of packageNames()) t.equal(readFileSync(`packages/${name}/LICENSE`, 'utf8'), license, name)
  t.end()
})

t.test(
  'no tarball has sources or source maps, which nothing loads and which take more room than the code',
  t => {
    for (const name of packageNames()) {
      const { files } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
        files: string[]
      }
      t.ok(files.includes('!dist/**/*.map'), name)
      t.notOk(files.includes('src'), name)
    }
    t.end()
  },
)

t.test('the package with bundled libraries has their licenses in its tarball', t => {
  const notices = readFileSync('packages/reference-host/dist/browser/third-party-notices.txt', 'utf8')
  for (const library of ['uplot', '@noble/curves', '@noble/hashes', '@scalar/fastify-api-reference'])
    t.match(notices, new RegExp(`^${library} \\d+\\.\\d+\\.\\d+$`, 'm'))
  t.equal(notices.match(/permission notice shall be included/g)?.length, 4)
  t.end()
})
