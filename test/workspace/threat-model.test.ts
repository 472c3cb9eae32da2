import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { claimTests } from './threat-claims.ts'
import { packageNames } from './tree.ts'

const PAGE = 'docs/threat-model.md'

/** A claim of the page, with the test that shows it. */
interface Claim {
  readonly claim: string
  readonly file: string
  readonly title: string
}

/** A claim, the file of its test, and optionally what is not defended. Nothing else may be in the list of a package. */
const CLAIM = /^- (?<claim>.+) \(\[test\]\(\.\.\/(?<file>test\/[^)]+\.ts)\)\)\.(?: Open: .+)?$/

/** The claims below "## Claims". Throws for a line that is not a claim with a test. */
function claimsOf(markdown: string, titles: Readonly<Record<string, string>>): Claim[] {
  const [, section = ''] = /^## Claims\n([^]*?)(?=^## |(?![^]))/m.exec(markdown) ?? []
  return section
    .split(/^(?=### )/m)
    .slice(1)
    .flatMap(part => {
      const [heading = '', ...lines] = part.split('\n').filter(line => line !== '')
      if (lines.length === 0) throw new Error(`not a heading above claims: ${heading}`)
      return lines.map(line => claimOf(line, titles))
    })
}

function claimOf(line: string, titles: Readonly<Record<string, string>>): Claim {
  const { claim, file } = CLAIM.exec(line)?.groups ?? {}
  const title = claim === undefined ? undefined : titles[claim]
  if (!claim || !file || !title) throw new Error(`not a claim with a test file and a test title: ${line}`)
  return { claim, file, title }
}

/** The titles of the tests of a source file, as they are written: placeholders of templates stay. */
function titlesOf(source: string): string[] {
  const titles = source.matchAll(/\btest\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/g)
  return [...titles].map(([, single, double, template]) => single ?? double ?? template ?? '')
}

/** What is wrong with a claim; undefined where its test exists. */
function validateClaim({ claim, file, title }: Claim): string | undefined {
  if (!existsSync(file)) return `${claim}: there is no file ${file}`
  const known = titlesOf(readFileSync(file, 'utf8')).includes(title)
  return known ? undefined : `${claim}: there is no test "${title}" in ${file}`
}

const claims = claimsOf(readFileSync(PAGE, 'utf8'), claimTests)

t.test('every claim of the threat model names a test that exists', async t => {
  t.same(
    claims.flatMap(claim => validateClaim(claim) ?? []),
    [],
  )
})

t.test('the threat model makes at least 25 claims, each once, and some about every package', async t => {
  t.ok(claims.length >= 25, `${claims.length} claims`)
  t.equal(new Set(claims.map(({ claim }) => claim)).size, claims.length)
  for (const name of packageNames())
    t.ok(
      claims.some(({ file }) => file.startsWith(`test/${name}/`)),
      name,
    )
})

t.test('every title belongs to a claim', async t => {
  t.same(
    Object.keys(claimTests).filter(title => !claims.some(({ claim }) => claim === title)),
    [],
  )
})

t.test('a claim without a test, with a missing file or with an unknown title is found', async t => {
  const title = 'a broken link is found'
  const file = 'test/workspace/links.test.ts'
  const page = (lines: string): string => `## Claims\n\n### Package\n\n${lines}\n\n## Next\n`
  const parse = (lines: string): Claim[] => claimsOf(page(lines), { 'It is safe': title })
  const denied = [
    '',
    'It is safe.',
    '- It is safe.',
    '- It is safe (by design).',
    `- It is fast ([test](../${file})).`,
    `- It is safe ([test](../${file})). It is also fast.`,
  ]
  for (const lines of denied) t.throws(() => parse(lines), /^not a /, lines)
  const known = { claim: 'It is safe', file, title }
  t.same(parse(`- It is safe ([test](../${file})).`), [known])
  t.same(parse(`- It is safe ([test](../${file})). Open: the rest.`), [known])
  t.equal(validateClaim(known), undefined)
  t.match(
    validateClaim({ ...known, title: 'a broken link' }),
    /no test "a broken link" in test\/workspace\/links\.test\.ts/,
  )
  t.match(
    validateClaim({ ...known, file: 'test/workspace/gone.test.ts' }),
    /no file test\/workspace\/gone\.test\.ts/,
  )
})
