import type { Render } from '@gatewright/http/internal'
import { toolRender } from '@gatewright/http/internal/tools'
import type { CallToolResult } from '@modelcontextprotocol/server'
import { isEnvelope } from '../mount/host-call.ts'
import { inSentences } from '../mount/render.ts'
import type { Success } from '../operations/operation.ts'
import { INTENT, type HostTool } from './host-tool.ts'

/** What tells a repeated call of a tool from a new one. */
export const intent = { args: [INTENT], meta: 'idempotency-key' } as const

/**
 * Renders the outcomes of a tool as results that a model can act on. With `challenge`, it renders denials that ask for another credential:
 * the client, not the model, gets that credential.
 */
export function hostToolRender(
  { takesIntent }: HostTool,
  challenge: Render | undefined,
  effectIdOf: () => string | undefined,
): Render {
  const tool = { intent: takesIntent ? intent : undefined, hasOutputSchema: false }
  const render = toolRender(tool, challenge, effectIdOf)
  return (outcome, context) => {
    if (outcome.kind === 'response' && isEnvelope(outcome.response.body))
      return { ...outcome.response, body: resultOf(outcome.response.body) }
    return outcome.kind === 'denial'
      ? render({ kind: 'denial', denial: inSentences(outcome.denial) }, context)
      : render(outcome, context)
  }
}

/** Makes the result of a success. `next` is left out: it names requests of HTTP. */
function resultOf({ data, summary, ignored }: Success): CallToolResult {
  const structuredContent = { summary, ...(ignored === undefined ? {} : { ignored }), data }
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
}
