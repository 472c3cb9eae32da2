import { join } from 'node:path'
import { HOST_VERSION } from '../product/version.ts'

/** What the first lines of a host name. */
export interface Greeting {
  readonly serviceName: string
  readonly environment: 'sandbox' | 'live'
  readonly url: string
  readonly helperPage: boolean
  readonly docsPage: boolean
  /** The address of the operator page, and where its token is; undefined if the page is off. */
  readonly operator: { readonly url: string; readonly token: string } | undefined
  /** A sandbox with its partner key: in the file of the data folder, or the text if the file cannot be written. */
  readonly partnerKey: PartnerKeyPlace
  readonly dataDir: string
}

/** Where the sandbox partner key is. */
export type PartnerKeyPlace =
  /** In the file `DATA_DIR/partner-key`. */
  | { readonly kind: 'file' }
  /** Made by this start, and the file could not be written: shown only now. */
  | { readonly kind: 'text'; readonly text: string }
  /** In the file is a key that this host does not accept: it has ended, or is of another database. */
  | { readonly kind: 'ended' }
  /** A live host, or a sandbox whose file is gone. */
  | { readonly kind: 'none' }

/** The name of the file of the sandbox partner key, in the data folder. */
export const PARTNER_KEY_FILE = 'partner-key'

/** The host that `npm run demo` calls if no address is given. */
const DEMO_URL = 'http://127.0.0.1:3000'

/** Makes the lines that a person reads when a host has started: its addresses, what to try, and how to stop it. */
export function greetingLines(greeting: Greeting): string[] {
  const { serviceName, environment, url, helperPage, docsPage, operator } = greeting
  const rows: readonly (readonly [name: string, value: string, note?: string])[] = [
    ...(helperPage || docsPage ? [['Home', url] as const] : []),
    ...(helperPage ? [['Console', `${url}/helper`, 'sign in, keys, limits'] as const] : []),
    ...(docsPage ? [['API docs', `${url}/docs`] as const] : []),
    operator ? ['Operator', operator.url, 'this machine only'] : ['Operator', 'off', 'OPERATOR_PAGE=on'],
    ...(operator ? [['', `token: ${operator.token}`] as const] : []),
  ]
  const width = Math.max(...rows.map(([, value, note]) => (note === undefined ? 0 : value.length)))
  const table = rows.map(([name, value, note]) =>
    `  ${name.padEnd(10)}${note === undefined ? value : `${value.padEnd(width)}  ${note}`}`.trimEnd(),
  )
  return [
    '',
    `${serviceName} ${HOST_VERSION} listens on ${url}`,
    ...(environment === 'sandbox' ? ['Play money only.'] : []),
    '',
    ...table,
    ...(environment === 'sandbox' ? sandboxLines(greeting) : []),
    '',
    'Ready. Stop it with Ctrl-C.',
  ]
}

function sandboxLines({ url, partnerKey, dataDir }: Greeting): string[] {
  const file = join(dataDir, PARTNER_KEY_FILE)
  const tryIt = [
    '',
    `  Try it    npm run demo${url === DEMO_URL ? '' : ` -- ${url}`}`,
    '            a wallet, a key, and a payment that a limit refuses',
  ]
  if (partnerKey.kind === 'none' || partnerKey.kind === 'ended')
    return [
      ...tryIt,
      '',
      `  Partners  ${file} ${partnerKey.kind === 'none' ? 'is gone.' : 'does not work here.'} A new partner with a key:`,
      '            npx gatewright partner-keys create NAME',
    ]
  const isFile = partnerKey.kind === 'file'
  const key = isFile ? `$(cat ${file})` : '$PARTNER_KEY'
  return [
    ...tryIt,
    '',
    isFile ? `  Partners  the key is in ${file}` : '  Partners  the key is shown only now; keep it:',
    ...(isFile ? [] : [`    export PARTNER_KEY=${partnerKey.text}`]),
    `    curl ${url}/partner/v1/users/resolve \\`,
    `      -H "X-Partner-Key: ${key}" \\`,
    `      -H 'Content-Type: application/json' -d '{"userId":"user-1"}'`,
  ]
}
