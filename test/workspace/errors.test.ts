import { readFileSync } from 'node:fs'
import t from 'tap'
import { allCauses, causeRows, SENTENCES } from './causes.ts'
import { allCodes, faultCodes } from './errors.ts'

t.test('the code lists of all packages are seen, each code with one status', async t => {
  const codes = await allCodes()
  t.match(codes.get('idempotency_key_reused'), { status: 400, packages: ['idempotency-store'] })
  t.match(codes.get('service_unavailable'), { status: 503, packages: ['http'] })
  t.ok((codes.get('invalid_request')?.packages.length ?? 0) > 3)
})

t.test('fault codes come with their docstrings', async t => {
  const source = "export type FaultCode =\n  /** One. */\n  | 'ERR_A'\n  /** Two. */\n  | 'ERR_B'\n\nclass X"
  t.same(faultCodes(source), [
    ['ERR_A', 'One.'],
    ['ERR_B', 'Two.'],
  ])
  t.ok(faultCodes(readFileSync('packages/kernel/src/fault.ts', 'utf8')).length > 5)
})

t.test('the rules and reasons of all packages are found, each with the packages that use it', async t => {
  const causes = await allCauses()
  const packagesOf = (kind: string, text: string): readonly string[] | undefined =>
    causes.find(cause => cause.kind === kind && cause.text === text)?.packages
  t.same(packagesOf('rule', 'dailySpendCapCents'), ['scope-guard'])
  t.same(packagesOf('rule', 'max_unpaid_addresses'), ['reference-host'])
  t.same(packagesOf('reason', 'revoked'), ['scope-guard', 'session-issuer'])
  t.same(packagesOf('reason', 'message and request differ in {field}'), ['signature-verifier'])
})

t.test('every rule that a policy can have is listed as a rule', async t => {
  const listed = new Set((await allCauses()).filter(({ kind }) => kind === 'rule').map(({ text }) => text))
  const source = readFileSync('packages/scope-guard/src/policies/policy.ts', 'utf8')
  const [, members = ''] = /export interface Policy \{([^]*?)\n\}/.exec(source) ?? []
  const names = [...members.matchAll(/^ {2}readonly (\w+)\?:/gm)].map(([, name = '']) => name)
  t.ok(names.length >= 10)
  // They say how caps count and when they give an alert, and block nothing by themselves.
  const counting = ['timeZone', 'alertAtPercent']
  t.same(
    names.filter(name => !listed.has(name)),
    counting,
  )
})

t.test('docs/errors.md or docs/401.md says every cause', async t => {
  const pages = readFileSync('docs/errors.md', 'utf8') + readFileSync('docs/401.md', 'utf8')
  const causes = await allCauses()
  t.ok(causes.length > 50)
  for (const { text } of causes) t.ok(pages.includes(`\`${text}\``), text)
  for (const sentence of Object.values(SENTENCES)) t.ok(pages.includes(sentence), sentence)
})

t.test('docs/errors.md has an anchor with an example for each code and each rule', async t => {
  const page = readFileSync('docs/errors.md', 'utf8')
  const rules = (await allCauses()).flatMap(({ kind, text }) => (kind === 'rule' ? [text] : []))
  const codes = [...(await allCodes()).keys()]
  for (const [heading, error] of [
    ...codes.map(code => [`### \`${code}\`\n`, `{"error":"${code}",`]),
    ...rules.map(rule => [
      `### <a id="policy_blocked.${rule}"></a>\`${rule}\`\n`,
      `{"error":"policy_blocked","rule":"${rule}",`,
    ]),
  ] as [string, string][]) {
    const [, section = ''] = page.split(heading)
    t.match(section.split('\n### ')[0], error, heading)
  }
})

t.test('a cause without a sentence fails by its name, and so does a sentence of no cause', async t => {
  const cause = { kind: 'reason', text: 'no kid', packages: ['session-issuer'] } as const
  t.same(causeRows([cause], { 'no kid': 'The token names no key.' }), [
    '| `no kid` | The token names no key. | session-issuer |',
  ])
  t.throws(() => causeRows([cause], {}), /describe in test\/workspace\/causes\.ts: no kid/)
  t.throws(() => causeRows([cause], { 'no kid': '' }), /describe .*: no kid/)
  t.throws(() => causeRows([cause], { 'no kid': 'A.', 'old cause': 'B.' }), /no package says: old cause/)
})
