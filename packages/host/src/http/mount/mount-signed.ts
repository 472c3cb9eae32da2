import { parseJsonObject, type HandlerResponse } from '@gatewright/http'
import type { KoaGate } from '@gatewright/http/koa'
import type { KoaMiddleware } from '@gatewright/http/internal'
import { storableText } from '@gatewright/kernel/internal'
import { compileSchema } from '../../schemas/check.ts'
import { deny } from '../codes.ts'
import { callOf, toHandlerResponse } from './host-call.ts'
import type { HostGate, MountServices } from './host-gate.ts'
import type { PlainOperation } from '../operations/operation.ts'

/**
 * Mounts an operation for signed messages of providers. The signature covers the body, so it is verified after the body is read
 * and before it is parsed.
 */
export function mountSigned(
  koa: KoaGate,
  route: ReturnType<HostGate['open']>,
  operation: PlainOperation,
  { providerMessages }: MountServices,
): KoaMiddleware {
  const validateBody = operation.body && compileSchema(operation.body)
  return koa.handle(route, async (call): Promise<HandlerResponse> => {
    const { facts, params, body } = call
    const proven = await providerMessages(facts, params['name'] ?? '', body)
    if (!proven.ok) return proven
    const json = parseJsonObject(body, facts.header('content-type'), withStorableTexts)
    if (!json.ok) return json
    const problem = validateBody?.(json.value)
    if (problem) return deny('invalid_request', problem.message, { field: problem.path.join('.') || 'body' })
    const input = { ...call.input, body: json.value }
    return toHandlerResponse(await operation.handle(callOf({ facts, params, input }, proven.value)))
  })
}

/**
 * Replaces what no store keeps in the texts of a message. A provider passes on the texts of others, such as the name of a merchant that a
 * terminal has padded with NUL: they must not make it impossible to apply the message. An id does not become another one: the schemas
 * of ids refuse U+FFFD, as they refuse NUL.
 */
const withStorableTexts = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? storableText(value, value.length) : value
