import type { HeaderField } from '@gatewright/kernel'
import type { WireResponse } from '../ports.ts'
import { isRepeatable, missingFields } from '../response/http-response.ts'
import type { FastifyReply } from './fastify-types.ts'
import { fieldsByName } from './node-response.ts'

/** Sends a response. */
export function sendReply(reply: FastifyReply, { status, headers, body }: WireResponse): FastifyReply {
  reply.code(status)
  for (const [name, values] of fieldsByName(headers)) reply.header(name, values)
  reply.send(body === '' ? undefined : body)
  return reply
}

/** Sets the fields of a gate on a reply that an existing handler will send. Links are added to those that the reply has. */
export function addReplyFields(reply: FastifyReply, fields: readonly HeaderField[]): void {
  for (const [name, value] of fields) if (!isRepeatable(name)) reply.header(name, value)
  addLinks(reply, fields)
}

/** Adds those links of a gate that a reply lacks: its handler may have replaced the `Link` field. */
export function addLinks(reply: FastifyReply, fields: readonly HeaderField[]): void {
  const links = fields.filter(([name]) => isRepeatable(name))
  if (links.length === 0) return
  const { link = [] } = reply.getHeaders() as { link?: string | string[] }
  const present = [link].flat()
  const missing = missingFields(
    present.map(each => ['Link', each]),
    links,
  )
  if (missing.length > 0) reply.header('Link', [...present, ...missing.map(([, each]) => each)])
}
