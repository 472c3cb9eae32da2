import { readFileSync } from 'node:fs'
import { allCauses, causeRows, codeLists } from './causes.ts'
import { packageNames } from './tree.ts'

/** What a client should make of each code. A code without an entry fails the test. */
const ADVICE: Readonly<Record<string, string>> = {
  challenge_not_found: 'The sign-in of a command line is over, or the code is wrong. Start it again.',
  gone: 'The old name has been switched off. Use the new one.',
  https_required: 'Send the request over HTTPS.',
  idempotency_key_invalid: 'Send 8 to 255 visible ASCII characters, bare or as one quoted string.',
  idempotency_key_required: 'Send an `Idempotency-Key`: a fresh one per write, the same one for its repeats.',
  idempotency_key_reused: 'The key was used with another payload. Take a fresh key.',
  insufficient_scope: 'Ask for a session with the scope that `scope` names.',
  internal_error: 'Our mistake. Report the `X-Request-Id`. Repeat a write only with the same key.',
  invalid_dpop_proof: 'Send a fresh DPoP proof for this request, and the token with the scheme `DPoP`.',
  invalid_request: 'Correct what `field` names. The same request fails again.',
  invalid_signature: 'Sign a new statement with a fresh nonce. Every cause has this one response.',
  invalid_state: 'Another step comes first; `message` names it.',
  key_held:
    'The data of the host was restored, and the key may have been revoked. The operator has to release it.',
  key_not_validated: 'The operator has to validate the partner key first.',
  method_not_allowed: 'Use a method that `Allow` names.',
  not_found: 'The caller has no object with this id. Another account may have it.',
  outcome_unknown:
    'An earlier run of this write was lost. Ask the operator about `operationId`; do not use a new key.',
  payee_not_found:
    'Nobody can be paid at this address. Send the address of a wallet that has signed in here.',
  payload_too_large: 'Send a smaller body: `message` has the limit.',
  policy_blocked:
    'A rule of the key or session forbids it; `rule` names it, with what remains and when it resets.',
  rate_limited: 'Wait for `Retry-After` seconds.',
  request_in_progress:
    'This write, or too many of the account, are still running. Wait for `Retry-After`, then repeat with the same key.',
  service_unavailable: 'A dependency is down. Wait for `Retry-After` and repeat, a write with the same key.',
  session_expired: 'Mint a new session.',
  unauthorized: 'Send a valid credential of the kind that the `WWW-Authenticate` challenge names.',
  unsupported_media_type: 'Send `Content-Type: application/json` in UTF-8.',
  use_dpop_nonce:
    'Repeat the request once with a DPoP proof that has the nonce of the response field `DPoP-Nonce`.',
  wrong_surface: 'The session belongs to the other surface.',
}

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

/** Writes `docs/errors.md`. Throws for a code that nobody has described, and for a description of no code. */
export async function errorsPage(): Promise<string> {
  const codes = await allCodes()
  const undescribed = [...codes.keys()].filter(code => !ADVICE[code])
  if (undescribed.length > 0)
    throw new Error(`describe in test/workspace/errors.ts: ${undescribed.join(', ')}`)
  const rows = [...codes]
    .toSorted(([a, { status: s }], [b, { status: r }]) => s - r || a.localeCompare(b))
    .map(
      ([code, { status, packages }]) =>
        `| ${status} | <a id="${code}"></a>\`${code}\` | ${ADVICE[code]} | ${packages.join(', ')} |`,
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
\`{ "error": code, "message": ... }\`, with \`field\` if one field is the cause, and the further members of the code. The host adds \`docs\`, a link to the description of the code (on this page, or in the guide that the host serves), and
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
in a response, because it would help an attacker. Two responses of the host contain a member of the same name with another meaning: \`reason\` is
\`insufficient_balance\` if the balance is too small, and \`issuer_refused\` if the card issuer rejected a card. For a fault, the event's
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
