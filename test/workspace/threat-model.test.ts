import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { packageNames } from './tree.ts'

const PAGE = 'docs/threat-model.md'

/** A claim of the page, with the test that shows it. */
interface Claim {
  readonly claim: string
  readonly file: string
  readonly title: string
}

/** A heading, the test, and optionally what is not defended. Nothing else may be below a heading of a claim. */
const CLAIM =
  /^#### (?<claim>.+[^.])\n\n- Test: `(?<file>test\/[^`]+\.ts)`, `(?<title>[^`]+)`\n(?:- Not defended: .+\n)?$/

/** The claims below "## Claims". Throws for a heading of a claim that is not followed by a test file and a test title. */
function claimsOf(markdown: string): Claim[] {
  const [, section = ''] = /^## Claims\n([^]*?)(?=^## |(?![^]))/m.exec(markdown) ?? []
  const packages = section.split(/^(?=### )/m).slice(1)
  return packages.flatMap(part => {
    const [heading = '', ...claims] = part.split(/\n(?=#### )/)
    if (!/^### .+\n$/.test(heading) || claims.length === 0)
      throw new Error(`not a heading above claims: ${heading}`)
    return claims.map(claimOf)
  })
}

function claimOf(text: string): Claim {
  const { claim, file, title } = CLAIM.exec(`${text.trimEnd()}\n`)?.groups ?? {}
  if (!claim || !file || !title) throw new Error(`not a claim with a test file and a test title: ${text}`)
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

const claims = claimsOf(readFileSync(PAGE, 'utf8'))

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

t.test('a claim without a test, with a missing file or with an unknown title is found', async t => {
  const page = (lines: string): string =>
    `## Claims\n\n### Package\n\n#### It is safe\n\n${lines}\n\n## Next\n`
  const denied = [
    '',
    '- Test: by design',
    '- Test: `test/workspace/links.test.ts`',
    '- Not defended: everything',
    'A test shows it.\n\n- Test: `test/workspace/links.test.ts`, `a broken link is found`',
    '- Test: `test/workspace/links.test.ts`, `a broken link is found`\n\nIt is also fast.',
  ]
  for (const lines of denied) t.throws(() => claimsOf(page(lines)), /not a claim/, lines)
  t.throws(() => claimsOf('## Claims\n\n### Package\n\nIt is safe.\n'), /not a heading above claims/)
  const [known, renamed, moved] = ['a broken link is found', 'a broken link', 'a broken link is found'].map(
    (title, at) => ({
      claim: 'It is safe',
      file: `test/workspace/${at < 2 ? 'links' : 'gone'}.test.ts`,
      title,
    }),
  ) as [Claim, Claim, Claim]
  const test = `- Test: \`${known.file}\`, \`${known.title}\``
  t.same(
    claimsOf(page(test)).map(claim => ({ ...claim })),
    [known],
  )
  t.same(claimsOf(page(`${test}\n- Not defended: the rest`)).length, 1)
  t.equal(validateClaim(known), undefined)
  t.match(validateClaim(renamed), /no test "a broken link" in test\/workspace\/links\.test\.ts/)
  t.match(validateClaim(moved), /no file test\/workspace\/gone\.test\.ts/)
})
