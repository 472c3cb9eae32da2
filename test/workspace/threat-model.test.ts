import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { packageNames } from './tree.ts'

const PAGE = 'docs/threat-model.md'

/** A row of a table of claims. */
interface Claim {
  readonly claim: string
  readonly file: string
  readonly title: string
}

/** The rows below a heading `| Claim | ...`. Throws for a row that does not name a file and a title. */
function claimsOf(markdown: string): Claim[] {
  const tables = markdown.matchAll(/^\| Claim \|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)
  return [...tables].flatMap(([, rows = '']) => rows.trimEnd().split('\n').map(claimOf))
}

function claimOf(row: string): Claim {
  const [, claim, file, title] = /^\| (.+?\.) \| `(test\/[^`]+\.ts)` \| `([^`]+)` \| .*\|$/.exec(row) ?? []
  if (!claim || !file || !title) throw new Error(`not a claim with a test file and a test title: ${row}`)
  return { claim, file, title }
}

/** The titles of the tests of a source file, as they are written: placeholders of templates stay. */
function titlesOf(source: string): string[] {
  const titles = source.matchAll(/\btest\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`([^`]*)`)/g)
  return [...titles].map(([, single, double, template]) => single ?? double ?? template ?? '')
}

/** What is wrong with a claim; undefined where its test exists. */
function validateClaim({ claim, file, title }: Claim): string | undefined {
  if (!existsSync(file)) return `${claim} There is no file ${file}`
  const known = titlesOf(readFileSync(file, 'utf8')).includes(title)
  return known ? undefined : `${claim} There is no test "${title}" in ${file}`
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
  const table = (row: string): string =>
    `| Claim | Test file | Test title | Not defended |\n|---|---|---|---|\n${row}\n`
  t.throws(() => claimsOf(table('| It is safe. | by design | | |')), /not a claim/)
  const [known, renamed, moved] = ['a broken link is found', 'a broken link', 'a broken link is found'].map(
    (title, at) => ({
      claim: 'It is safe.',
      file: `test/workspace/${at < 2 ? 'links' : 'gone'}.test.ts`,
      title,
    }),
  ) as [Claim, Claim, Claim]
  t.same(claimsOf(table(`| ${known.claim} | \`${known.file}\` | \`${known.title}\` | |`)), [known])
  t.equal(validateClaim(known), undefined)
  t.match(validateClaim(renamed), /no test "a broken link" in test\/workspace\/links\.test\.ts/)
  t.match(validateClaim(moved), /no file test\/workspace\/gone\.test\.ts/)
})
