import { readFileSync } from 'node:fs'
import { errorAdvice } from '#packages/reference-host/dist/product/errors.js'
import { allCauses, causeRows, codeLists } from './causes.ts'
import { packageNames } from './tree.ts'

interface Entry {
  readonly status: number
  readonly packages: string[]
}

/** Every code with its status and the packages that respond with it. Throws when two packages disagree on a status. */
export async function allCodes(): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>()
  for (const name of packageNames()) {
    const { codes = {} } = await codeLists(name)
    for (const [code, status] of Object.entries(codes)) {
      const entry = found.get(code) ?? { status, packages: [] }
      if (entry.status !== status)
        throw new Error(`${name}: ${code} is ${status} here and ${entry.status} elsewhere`)
      entry.packages.push(name)
      found.set(code, entry)
    }
  }
  return found
}

/** The codes of faults with their docstrings, from kernel's source. */
export function faultCodes(source: string): [code: string, meaning: string][] {
  const [, union = ''] = /export type FaultCode =([^]*?)\n\n/.exec(source) ?? []
  return [...union.matchAll(/\/\*\* (.*?) \*\/\s*\| '(\w+)'/g)].map(([, meaning = '', code = '']) => [
    code,
    meaning,
  ])
}

/** Writes `docs/errors.md`. */
export async function errorsPage(): Promise<string> {
  const codes = await allCodes()
  const advice: Readonly<Record<string, string>> = errorAdvice
  const rows = [...codes]
    .toSorted(([a, { status: s }], [b, { status: r }]) => s - r || a.localeCompare(b))
    .map(
      ([code, { status, packages }]) =>
        `| ${status} | <a id="${code}"></a>\`${code}\` | ${advice[code]} | ${packages.join(', ')} |`,
    )
  const faults = faultCodes(readFileSync('packages/kernel/src/fault.ts', 'utf8')).map(
    ([code, meaning]) => `| \`${code}\` | ${meaning} |`,
  )
  const causes = causeRows(await allCauses())
  return PAGE.replace('{denials}', () => rows.join('\n'))
    .replace('{causes}', () => causes.join('\n'))
    .replace('{faults}', () => faults.join('\n'))
}

const PAGE = `# Errors

<!-- Written by \`npm run docs:update\` from the code lists of the packages. -->

A denial is data with a \`code\`, a \`status\` and a \`message\`, and is never thrown. On the wire it is
\`{ "error": code, "message": ... }\`, with \`field\` if one field is the cause, and the further members of the code. The host adds \`docs\`, a link to the description of the code (\`ERRORS_PAGE\`, by default this page; each host has a short form of it at \`/errors\`), and
\`requestId\`, by which [the request](requests.md) is found. A 404 or 409 of a write has no \`requestId\` in its body, because a replay under its idempotency
key repeats the body to the byte; its header field \`X-Request-Id\` has it. Partner responses
(\`errors: 'partner'\`) also have \`ok: false\`, an empty \`data\`, \`summary\` (the message) and \`errors\` (a list of one, with \`error\`, \`code\` and
\`message\`); \`application/problem+json\` (RFC 9457) has the code as \`code\`. Codes are spelled the same in packages and on the wire. No error
holds a token, a key, a signature, a request body or internal text.

| Status | Code | What to do | Package |
|---|---|---|---|
{denials}

## Causes

A \`policy_blocked\` names its rule in \`rule\`, which the caller sees. \`reason\` is the exact cause of a denial: it is in the decision event and never
in a response, because it would help an attacker. One response of the host contains a member of the same name with another meaning: \`reason\` is
\`issuer_refused\` if the card issuer rejected a card. For a fault, the event's
\`reason\` is the code of the fault. The packages list them as \`rules\` and \`reasons\` beside their codes, and a cause outside the lists does not
compile. \`{name}\` stands for varying text.

| Cause | Where | Meaning | Package |
|---|---|---|---|
{causes}

## Faults

A broken dependency throws a \`Fault\`. The response is then 503 \`service_unavailable\` with \`Retry-After\`, never a success, 401, 403 or
429. Its code is for logs and metrics.

| Code | Meaning |
|---|---|
{faults}

## Wrong options

A wrong option is a \`TypeError\` at construction that names the option, its bound and the given value. An unknown option is a \`TypeError\`, too,
in every function of every package that takes options, and in the objects inside them:

\`\`\`
createGuard: unknown option "polices", did you mean policies? Known options: issuer, audience, keys, policies, ...
createGuard limits[0]: unknown option "window", did you mean windowSeconds? Known options: name, points, windowSeconds, ...
\`\`\`

Otherwise a misspelt option would count as absent, and the protection that it turns on would be off
([decision 0036](decisions/0036-unknown-options.md)). A known option may be \`undefined\`. Of an object with other members,
pass only the options: \`const { recover, keccak256 } = await fastestRecover()\`.
`
