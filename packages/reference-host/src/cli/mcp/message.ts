/** The id of a JSON-RPC request. */
export type MessageId = string | number

/** A JSON-RPC message: a request, a notification without an id, or a response without a method. */
export interface Message {
  readonly jsonrpc: '2.0'
  readonly id?: MessageId | null
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: unknown
  readonly error?: unknown
}

/** A request of a client. */
export interface RequestMessage extends Message {
  readonly id: MessageId
  readonly method: string
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isId = (id: unknown): id is MessageId => typeof id === 'string' || typeof id === 'number'

/** Reads a JSON-RPC message. Undefined for any other text, such as a batch. */
export function parseMessage(text: string): Message | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return undefined
  const { id, method, params = {} } = value
  const isCall = typeof method === 'string' && isObject(params) && (id === undefined || isId(id))
  const isResponse = method === undefined && ('result' in value || isObject(value['error']))
  return isCall || isResponse ? (value as unknown as Message) : undefined
}

export const isRequest = (message: Message): message is RequestMessage =>
  message.method !== undefined && isId(message.id)

/** Makes the line of a message: whitespace between its members is the only place where its text can have newlines. */
export const oneLine = (text: string): string => text.trim().replaceAll(/[\r\n]+/g, ' ')

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion'

/** The member of the parameters that `Mcp-Name` repeats, by the method. */
const NAMED: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
}

/**
 * Returns the header fields that repeat members of a message. Revision 2026-07-28 names the version in each message; before, it is the one that
 * `initialize` agreed on. A value that no field can carry is left out, and the host says so.
 */
export function headersOf({ method, params = {} }: Message, agreed: string | undefined): [string, string][] {
  const meta = params['_meta']
  const own = isObject(meta) ? meta[PROTOCOL_VERSION] : undefined
  if (typeof own !== 'string' || method === undefined)
    return agreed === undefined ? [] : [['mcp-protocol-version', agreed]]
  const name = Object.hasOwn(NAMED, method) ? params[NAMED[method] as string] : undefined
  const fields: [string, string][] = [
    ['mcp-protocol-version', own],
    ['mcp-method', method],
  ]
  return [
    ...fields.filter(([, value]) => isPlain(value)),
    ...(typeof name === 'string' ? [['mcp-name', encoded(name)] satisfies [string, string]] : []),
  ]
}

const isPlain = (value: string): boolean => /^[!-~](?:[\t -~]*[!-~])?$/.test(value)

/** Writes a value as a header field: as it is, or in Base64 if a field would change it or it looks like Base64 of this form. */
function encoded(value: string): string {
  const isEncoded = value.startsWith('=?base64?') && value.endsWith('?=')
  return isPlain(value) && !isEncoded ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`
}
