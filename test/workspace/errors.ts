import { readFileSync } from 'node:fs'
import { errorExamples, ruleExamples } from '#packages/reference-host/dist/product/error-examples.js'
import { errorAdvice, ruleMeanings } from '#packages/reference-host/dist/product/errors.js'
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

/** An error of the wire as one line of JSON. */
const example = (error: string, members: object): string =>
  `\`\`\`json\n${JSON.stringify({ error, ...members })}\n\`\`\``

/** Writes `docs/errors.md`. */
export async function errorsPage(): Promise<string> {
  const codes = await allCodes()
  const advice: Readonly<Record<string, string>> = errorAdvice
  const ofCodes = [...codes]
    .toSorted(([a, { status: s }], [b, { status: r }]) => s - r || a.localeCompare(b))
    .map(
      ([code, { status }]) =>
        `### \`${code}\`\n\n${status}. ${advice[code]}\n\n${example(code, errorExamples[code as keyof typeof errorExamples])}`,
    )
  const ofRules = Object.entries(ruleMeanings).map(
    ([rule, meaning]) =>
      `### <a id="policy_blocked.${rule}"></a>\`${rule}\`\n\n${meaning}\n\n${example('policy_blocked', { rule, ...ruleExamples[rule as keyof typeof ruleExamples] })}`,
  )
  const faults = faultCodes(readFileSync('packages/kernel/src/fault.ts', 'utf8')).map(
    ([code, meaning]) => `| \`${code}\` | ${meaning} |`,
  )
  const causes = causeRows(await allCauses())
  return PAGE.replace('{denials}', () => ofCodes.join('\n\n'))
    .replace('{rules}', () => ofRules.join('\n\n'))
    .replace('{causes}', () => causes.join('\n'))
    .replace('{faults}', () => faults.join('\n'))
}

const PAGE = `# Errors

<!-- Written by \`npm run docs:update\` from the code lists of the packages. -->

A denial is data and is never thrown. On the wire it is \`{ "error": code, "message": ... }\`, with \`field\` if one field is the cause, and the
members of the code. Codes are spelled the same in packages and on the wire. No error holds a token, a key, a signature, a request body or
internal text.

- The host adds \`docs\`, a link to the code or rule below (\`ERRORS_PAGE\`; each host has this list at \`/errors\`), and \`requestId\`, by which
  [the request](requests.md) is found. A 404 or 409 of a write has it in the header field \`X-Request-Id\` only, because a replay repeats its body to the byte.
- Partner responses also have \`ok: false\`, an empty \`data\`, \`summary\` (the message) and \`errors\`, a list of one.
- The host sends no problem documents (RFC 9457). Embedders do by \`errors: 'problem'\`; the code is \`code\` ([OpenAPI](openapi-errors.md)).

## Codes

{denials}

## Rules of \`policy_blocked\`

The member \`rule\` names what forbids the request. A cap also has its \`limit\`, what is \`remaining\`, what was \`requested\`, and when it \`resetsAt\`.

{rules}

## Reasons

\`reason\` is the exact cause of a denial. It is in the decision event and never in a response, because it would help an attacker. (The member
\`reason\` of one response is something else: \`issuer_refused\` if the card issuer rejected a card.) Why a token is denied: [401? Read this](401.md). The others:

| Reason | Meaning | Package |
|---|---|---|
{causes}

## Faults

A broken dependency throws a \`Fault\`. The response is 503 \`service_unavailable\` with \`Retry-After\`, never a success, 401, 403 or
429. The code of the fault is for logs and metrics, and is the \`reason\` of the event.

| Code | Meaning |
|---|---|
{faults}

## Wrong options

A wrong or unknown option is a \`TypeError\` at construction that names it, in every function that takes options and in the objects inside them:

\`\`\`
createGuard: unknown option "polices", did you mean policies? Known options: issuer, audience, keys, policies, ...
createGuard limits[0]: unknown option "window", did you mean windowSeconds? Known options: name, points, windowSeconds, ...
\`\`\`

Otherwise a misspelt option would count as absent, and its protection would be off. A known
option may be \`undefined\`. Of an object with other members, pass only the options: \`const { recover, keccak256 } = await fastestRecover()\`.
`
