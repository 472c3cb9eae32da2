// A client of the tools of a host: the SDK's own.
import { Client, StreamableHTTPClientTransport, type CallToolResult } from '@modelcontextprotocol/client'
import type { Test } from 'tap'
import { bearer } from '../../../harness/host.ts'

/** The revisions of the protocol, by the mode in which the SDK's client speaks it. */
export const ERAS = ['auto', 'legacy'] as const
export type Era = (typeof ERAS)[number]

/** Connects the SDK's client to a host with a token. With `opened` it opens the pages that it is asked to open. */
export async function connected(
  t: Pick<Test, 'teardown'>,
  url: string,
  token: string,
  mode: Era = 'auto',
  opened?: (page: unknown) => Promise<void>,
): Promise<Client> {
  const capabilities = opened ? { elicitation: { url: {} } } : {}
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode }, capabilities })
  if (opened)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      await opened(params)
      return { action: 'accept' }
    })
  const requestInit = { headers: bearer(token) }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  t.teardown(() => client.close())
  return client
}

/** What a result of a tool says to the model. */
export function saidBy(result: CallToolResult): Record<string, unknown> {
  const [first] = result.content
  if (first?.type !== 'text') throw new Error(`a result without text: ${JSON.stringify(result)}`)
  return JSON.parse(first.text) as Record<string, unknown>
}

/** Sends one message of the revision 2025-11-25, as a client that is not the SDK's. */
export function post(
  url: string,
  message: unknown,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
      ...headers,
    },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  })
}
