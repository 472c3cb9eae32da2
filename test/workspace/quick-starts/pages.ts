import { readFileSync } from 'node:fs'
import { fences } from '../markdown.ts'

/** The server that a page's code is started as: the tokens it accepts, and where it listens. */
export interface Place {
  /** The address of the identity provider. */
  readonly issuer: string
  readonly port: number
}

/** The page's first fence that makes a server, as it is printed. */
export function codeOf(file: string): string {
  const fence = fences(readFileSync(file, 'utf8')).find(({ code }) =>
    /gatewright\(|GatewrightModule|createGuard\(/.test(code),
  )
  if (!fence) throw new Error(`${file} has no fence that makes a server`)
  return fence.code
}

/** The code with the issuer's address and the port exchanged, and nothing else. */
export function placed(code: string, { issuer, port }: Place): string {
  const example = "'https://auth.example'"
  if (!code.includes(example)) throw new Error(`the page names no issuer ${example}`)
  return code
    .replace(example, `'${issuer}'`)
    .replace('listen(3000)', `listen(${port}, '127.0.0.1')`)
    .replace('{ port: 3000 }', `{ port: ${port}, host: '127.0.0.1' }`)
}

/** Serves a handler from `Request` to `Response` on Node, with Hono's server. */
export const onNode = (handler: string, { port }: Place): string => `
import { serve } from '@hono/node-server'
serve({ fetch: ${handler}, port: ${port}, hostname: '127.0.0.1' })
`
