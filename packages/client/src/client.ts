import { newIdempotencyKey, requestOf } from './request.ts'
import { assertVisible, settingsOf, type ClientOptions, type ClientSettings } from './options.ts'
import type { ListOperation, Operation, OperationInput } from './operation.ts'
import { authenticator } from './authentication.ts'
import { GatewrightError } from './problem.ts'
import { send, type Received, type Sending } from './send.ts'

export type { ClientOptions } from './options.ts'

/** What a call returned. */
interface CallResult<Data> {
  readonly data: Data
  /** What happened, in a sentence for people. */
  readonly summary: string
  /** What a client usually does next. */
  readonly next?: string
  /** Members of the body and query parameters that the host does not know and did not read. */
  readonly ignored?: readonly string[]
  readonly status: number
  /** Whether this is the stored response of an earlier request with the same idempotency key. */
  readonly replayed: boolean
  readonly requestId: string | undefined
}

/** What a call may say beside the input of its operation. */
interface CallOptions {
  /** Of a write that takes a key. Default: a new one for each call, the same for all its attempts. */
  readonly idempotencyKey?: string
  /** Ends the call, also between two attempts. The host may have done its work. */
  readonly signal?: AbortSignal
}

/** Input and options of a call. It can be left out if the operation requires nothing. */
type CallArguments<Input> = object extends Input
  ? [input?: Input & CallOptions]
  : [input: Input & CallOptions]

/** A client of one host for one credential. */
export interface Client {
  /** Calls an operation. Rejects with a `GatewrightError` if the host denies it or the last attempt fails. */
  call<Input extends OperationInput, Data>(
    operation: Operation<Input, Data>,
    ...given: CallArguments<Input>
  ): Promise<CallResult<Data>>
  /** The items of a list over all its pages, each read when the one before it is used up. */
  items<Input extends OperationInput, Data, List extends keyof Data & string>(
    operation: ListOperation<Input, Data, List>,
    ...given: CallArguments<Input>
  ): AsyncIterableIterator<ItemOf<Data[List]>>
}

type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never

type AnyInput = OperationInput & CallOptions
type AnyOperation = Operation<OperationInput, unknown>

/** Creates a client. It opens no connection and sends nothing before its first call. */
export function createClient(options: ClientOptions): Client {
  const settings = settingsOf(options)
  const authenticate = authenticator(settings)

  const receive = async (operation: AnyOperation, input: AnyInput): Promise<Received> => {
    const sending = sendingOf(operation, input, settings)
    const withToken = async (denied?: string): Promise<Received> => {
      const { token, fields } = await authenticate(operation.credential, input.signal, denied)
      try {
        return await send({ ...sending, headers: { ...sending.headers, ...fields } }, settings)
      } catch (error) {
        // A denied token has had no effect, so that every request may be sent again with a new one: once.
        if (token === undefined || denied !== undefined || !isTokenDenied(error)) throw error
        return withToken(token)
      }
    }
    return withToken()
  }

  const call = async (operation: AnyOperation, input: AnyInput = {}): Promise<CallResult<unknown>> =>
    successOf(await receive(operation, input))

  async function* items(
    operation: ListOperation<OperationInput, Record<string, unknown>, string>,
    input: AnyInput = {},
  ): AsyncGenerator {
    const cursors = new Set<unknown>()
    let cursor: unknown
    do {
      const query = cursor === undefined ? input.query : { ...input.query, cursor }
      const { data, status } = await call(operation, { ...input, ...(query ? { query } : {}) })
      const page = data as Readonly<Record<string, unknown>>
      yield* page[operation.list] as readonly unknown[]
      cursor = page['nextCursor']
      if (cursors.has(cursor)) throw repeatedCursor(status)
      cursors.add(cursor)
    } while (typeof cursor === 'string')
  }

  return { call, items } as Client
}

/** Makes the error of a list whose pages begin again: it would never end, and its items would come twice. */
function repeatedCursor(status: number): GatewrightError {
  const message = 'The host returned the cursor of an earlier page again'
  return new GatewrightError({ code: 'unrecognized_response', status, message, body: {} })
}

function isTokenDenied(error: unknown): boolean {
  if (!(error instanceof GatewrightError)) return false
  const { code } = error.problem
  return code === 'unauthorized' || code === 'session_expired'
}

/** What all attempts of a call send, without a credential. */
function sendingOf(operation: AnyOperation, input: AnyInput, { url }: Pick<ClientSettings, 'url'>): Sending {
  const request = requestOf(url, operation, input)
  const idempotencyKey = operation.keyed ? (input.idempotencyKey ?? newIdempotencyKey()) : undefined
  if (idempotencyKey !== undefined) assertVisible('idempotencyKey', idempotencyKey)
  return {
    ...request,
    method: operation.method,
    headers: {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    },
    accepts: operation.text ? 'text' : 'json',
    repeatable: operation.method === 'GET' || idempotencyKey !== undefined,
    idempotencyKey,
    signal: input.signal,
  }
}

function successOf({ response, body }: Received): CallResult<unknown> {
  const members = hasEnvelope(body) ? body : { data: body, summary: '' }
  return {
    ...members,
    status: response.status,
    replayed: response.headers.get('idempotency-replayed') === 'true',
    requestId: response.headers.get('x-request-id') ?? undefined,
  }
}

/** Exports and documents have no envelope. */
function hasEnvelope(body: unknown): body is CallResult<unknown> {
  return typeof body === 'object' && body !== null && 'data' in body && 'ok' in body
}
