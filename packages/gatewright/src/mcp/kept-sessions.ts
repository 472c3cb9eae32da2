import type { Session } from '@gatewright/kernel'
import {
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type HandleRequestOptions,
  type McpRequestContext,
  type McpServer,
} from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'

/** Sessions that are kept. Beyond, the one that was used least recently ends. */
const MOST = 1000
/** Of them, those of one account, whichever of its keys they have: nobody ends the sessions of others by making keys. */
const MOST_OF_ONE_ACCOUNT = 16
/** JSON-RPC code and message of the SDK for a session that is not there. A client of the protocol then initializes again. */
const NOT_FOUND = { code: -32001, message: 'Session not found' }

interface KeptSession {
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Whose messages it takes. */
  readonly owner: string
  readonly accountId: string
}

/** A message whose sender has a session of the gate. */
interface SessionMessage {
  readonly request: Request
  readonly session: Session
  /** The method of the protocol that it names. */
  readonly method: unknown
}

/** The server of one session of the protocol, until its client or a newer session ends it. */
export interface KeptSessions {
  /** Responds to a message of a kept session, or to `initialize`, which begins one. Undefined: no session is needed, so any server can respond. */
  respond(message: SessionMessage, options: HandleRequestOptions): Promise<Response | undefined>
}

/**
 * Keeps the sessions of clients of revision 2025-11-25 in the memory of this process: what a tool asks its client while it runs goes out on the
 * stream of the call, and the reply comes in a request of its own. A session takes messages of the account and key that began it only; each
 * has its own token, and is checked as any other.
 */
export function keptSessions(
  makeServer: (context: McpRequestContext) => McpServer | Promise<McpServer>,
): KeptSessions {
  const kept = new LRUCache<string, KeptSession>({
    max: MOST,
    dispose: ({ transport }) => void transport.close(),
  })

  async function begin(
    { request, session }: SessionMessage,
    options: HandleRequestOptions,
  ): Promise<Response> {
    const owner = ownerOf(session)
    const { accountId } = session
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized(id) {
        const own = [...kept.rkeys()].filter(other => kept.peek(other)?.accountId === accountId)
        const [oldest] = own
        if (oldest !== undefined && own.length >= MOST_OF_ONE_ACCOUNT) kept.delete(oldest)
        kept.set(id, { transport, owner, accountId })
      },
      onsessionclosed: id => void kept.delete(id),
    })
    const { authInfo } = options
    const server = await makeServer({
      era: 'legacy',
      requestInfo: request,
      ...(authInfo ? { authInfo } : {}),
    })
    await server.connect(transport)
    return transport.handleRequest(request, options)
  }

  return {
    async respond(message, options) {
      const { request, session, method } = message
      if (!(await isLegacyRequest(request, options.parsedBody))) return undefined
      const id = request.headers.get('mcp-session-id')
      if (id === null) return method === 'initialize' ? begin(message, options) : undefined
      // The list depends on the scopes of the message, and asks nothing.
      if (method === 'tools/list') return undefined
      const found = kept.get(id)
      return found?.owner === ownerOf(session)
        ? found.transport.handleRequest(request, options)
        : Response.json({ jsonrpc: '2.0', id: null, error: NOT_FOUND }, { status: 404 })
    },
  }
}

const ownerOf = ({ accountId, keyId }: Session): string => JSON.stringify([accountId, keyId])
