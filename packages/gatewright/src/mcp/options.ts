import type { AmountLike, StandardSchema } from '@gatewright/http/internal'
import type { Rule } from '@gatewright/kernel'
import { assertIntent, type Intent } from '@gatewright/http/internal/tools'
import type { CallToolResult, StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import { readOperation, writeOperation, type ReadOperation, type WriteOperation } from '../operations.ts'

/** What a tool returns: content for the model, a value that `outputSchema` describes, or both. The text of the value is added if there is no content. */
export interface ToolResult {
  readonly content?: CallToolResult['content']
  readonly structuredContent?: Record<string, unknown>
  readonly _meta?: Record<string, unknown>
}

interface Named {
  /** The id of the operation in policies, records and events, such as `payments.create`. Default: the name of the tool. */
  readonly operation?: string
}

/** Options of a tool that changes nothing. */
export interface ReadTool<S extends string = string>
  extends Named,
    Omit<ReadOperation<S>, 'query' | 'params' | 'methods'> {
  readonly read: true
}

/** Options of a tool that changes something: it runs at most once for each intent. */
export interface WriteTool<S extends string = string, A = unknown>
  extends Named,
    Omit<WriteOperation<S, A>, 'body' | 'query' | 'params' | 'compareQuery'> {
  readonly read?: false
  readonly transaction?: false
  readonly intent: Intent
}

/** Options of a tool whose record, spends and rows commit in one transaction, by the options `transactions` and `spendStorage` of the gate. */
export interface TransactionTool<S extends string = string>
  extends Named,
    Pick<WriteOperation<S>, 'scope' | 'anyOf' | 'surface' | 'limit' | 'cardSecrets'> {
  readonly transaction: true
  readonly intent: Intent
  /** How the operation spends: its handler calls `reserve`. */
  readonly spends?: 'spend' | 'withdrawal'
}

/** What a client is told about a tool. */
export interface ToolTexts<A = unknown> {
  readonly title?: string
  readonly description: string
  /** The schema of the arguments: zod, or any other Standard Schema that also gives its JSON Schema. */
  readonly inputSchema: StandardSchemaWithJSON<unknown, A>
  /** The schema of `structuredContent`. */
  readonly outputSchema?: StandardSchemaWithJSON
  /** Default: `readOnlyHint` as `read` says, and `idempotentHint` true. */
  readonly annotations?: ToolAnnotations
  readonly _meta?: Record<string, unknown>
}

/** The options of a tool whose kind is not known. */
export type AnyTool = ReadTool | WriteTool | TransactionTool

/** The members of all kinds. */
type AnyMembers = Omit<WriteTool, 'read' | 'transaction'> & {
  readonly read?: boolean
  readonly transaction?: boolean
}

/** A checked tool. */
export interface CheckedTool {
  readonly kind: 'read' | 'write' | 'transaction'
  readonly rule: Rule
  readonly intent: Intent | undefined
  readonly route: { readonly body: StandardSchema; readonly noEffectStatuses?: readonly number[] }
  readonly amount: ((args: never) => AmountLike) | undefined
}

/** Checks the options of a tool. Throws a `TypeError` that names the tool and what to write. */
export function checkedTool(name: string, options: AnyTool, { inputSchema }: ToolTexts<never>): CheckedTool {
  const { operation = name, read, transaction, intent, ...rest } = options as AnyMembers
  if (typeof inputSchema?.['~standard']?.jsonSchema?.input !== 'function')
    throw new TypeError(
      `${name}: inputSchema must be a Standard Schema that gives its JSON Schema, such as z.object({ ... }) of zod 4`,
    )
  const body = inputSchema as StandardSchema
  if (read === true) {
    if (intent !== undefined || transaction === true)
      throw new TypeError(
        `${name}: a tool with read: true changes nothing, so it takes no intent and no transaction`,
      )
    const { rule } = readOperation(operation, rest)
    return { kind: 'read', rule, intent: undefined, route: { body }, amount: undefined }
  }
  assertIntent(name, intent)
  const { rule, route, amount } = writeOperation(operation, rest)
  if (transaction !== true) return { kind: 'write', rule, intent, route: { ...route, body }, amount }
  if (amount)
    throw new TypeError(
      `${name}: with transaction: true write spends: 'spend' or 'withdrawal', and call reserve in the handler`,
    )
  return { kind: 'transaction', rule, intent, route: { body }, amount: undefined }
}
