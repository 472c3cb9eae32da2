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

interface LockedPackage {
  readonly engines?: { readonly node?: string }
  readonly hasInstallScript?: boolean
}

// `overrides` in the root `package.json` keep it so. Decision 0048 has the reason of those of Scalar; later versions of light-my-request, which
// Fastify uses in tests, depend on a cookie that asks for Node.js 22.
t.test('npm ci warns of no package: each accepts the oldest Node.js version that the repository names', t => {
  for (const [path, { engines }] of lockedPackages())
    t.ok(acceptsOldestNode(engines?.node ?? '*'), `${path} asks for Node.js ${engines?.node}`)
  for (const refused of ['>=22', '^22.1.0 || >=24', '>=20.20', '^18.0.0']) t.notOk(acceptsOldestNode(refused))
  t.end()
})

t.test('npm ci runs no install script, and every package that has one is named', t => {
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { allowScripts: object }
  const withScript = lockedPackages().filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = withScript.map(([path]) => path.replace(/^.*node_modules\//, ''))
  t.same(allowScripts, Object.fromEntries(names.map(name => [name, false])))
  t.end()
})

function lockedPackages(): readonly [path: string, locked: LockedPackage][] {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, LockedPackage>
  }
  return Object.entries(lock.packages)
}

/** Whether a range such as `^20.17.0 || >=22.9.0` contains 20.19.0. */
function acceptsOldestNode(range: string): boolean {
  return range.split('||').some(part => {
    const [, operator, version = ''] = /^(>=|\^|)\s*([\d.*x]+)/.exec(part.trim()) ?? []
    const [major = 0, minor = 0] = version.split('.').map(number => Number(number.replace(/[x*]/, '0')))
    if (version.startsWith('*')) return true
    return operator === '>=' && major !== 20 ? major < 20 : major === 20 && minor <= 19
  })
}
